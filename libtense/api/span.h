/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The percent of a function that libtense-functions.so changes, on top of the
 * percent that the program asks for itself. Exported for that library alone.
 *
 * The first five functions use general registers only, make no system call, leave
 * errno alone and are async-signal-safe. If one returns -EAGAIN, call its variant
 * _slow, which does the same by a system call if it must. All return 0 or a
 * negative errno value.
 */
#ifndef LIBTENSE_SPAN_H
#define LIBTENSE_SPAN_H

#include <stdint.h>

/* The state before a function, which the caller keeps. */
struct tense_span {
	uint64_t scale;
	uint32_t slot;
};

/*
 * The thread enters a function. percent: 1 to 100000, in thousandths. slot: 1 to
 * 15. own: counter ticks up to now that are not the program's.
 */
int __tense_span_begin(struct tense_span *before, unsigned int percent,
		       unsigned int slot, unsigned int own);
/* The thread leaves the function, and spans that began in it. */
int __tense_span_end(const struct tense_span *before, unsigned int own);
/* The thread enters the function once more: counts a call and changes nothing else. */
int __tense_span_count(unsigned int slot, unsigned int own);
/* Leaves own ticks uncharged and changes nothing else. */
int __tense_span_own(unsigned int own);
/* Tells the virtual time in ns. */
int __tense_span_now(int64_t *now);

int __tense_span_begin_slow(struct tense_span *before, unsigned int percent,
			    unsigned int slot, unsigned int own);
int __tense_span_end_slow(const struct tense_span *before, unsigned int own);
int __tense_span_count_slow(unsigned int slot, unsigned int own);
int __tense_span_own_slow(unsigned int own);
int __tense_span_now_slow(int64_t *now);

/*
 * The thread runs at the highest percent, in slot 0, until
 * __tense_span_end_slow(). Makes one system call and maps no area. The kernel
 * charges next to nothing for the work that follows.
 */
int __tense_span_rush(struct tense_span *before);

/*
 * The counter at the thread's last record, or at the one "back" records before
 * it. 0 if the thread has no ring.
 */
uint64_t __tense_span_stamp(unsigned int back);

/* Real ns per tick of the counter, times 2^32; 0 if not known. */
uint64_t __tense_span_rate(void);

#endif
