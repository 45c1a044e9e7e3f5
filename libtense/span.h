/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The percent of a function that libtense-functions.so runs at another one,
 * on top of what the program asks for itself. Exported for that library alone.
 *
 * The first five use general registers only, make no system call, leave errno
 * alone and are async-signal-safe; at -EAGAIN the second five do the same by
 * all means. All return 0 or a negative errno value.
 */
#ifndef LIBTENSE_SPAN_H
#define LIBTENSE_SPAN_H

#include <stdint.h>

/* What held before; the caller keeps it. */
struct tense_span {
	uint64_t scale;
	uint32_t slot;
};

/*
 * The thread enters a function: percent 1 to 100000 in thousandths, slot 1 to
 * 15, and the counter ticks up to now that were not the program's.
 */
int __tense_span_begin(struct tense_span *before, unsigned int percent,
		       unsigned int slot, unsigned int own);
/* It leaves it, and what began in it as well. */
int __tense_span_end(const struct tense_span *before, unsigned int own);
/* It enters it once more: a call that changes nothing. */
int __tense_span_count(unsigned int slot, unsigned int own);
/* Nothing changes, but ticks were not the program's. */
int __tense_span_own(unsigned int own);
/* The virtual time in ns. */
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
 * The counter at the thread's last record, or back records before that. 0 if the
 * thread has no ring.
 */
uint64_t __tense_span_stamp(unsigned int back);

/* Real ns per tick of the counter, times 2^32; 0: not known. */
uint64_t __tense_span_rate(void);

#endif
