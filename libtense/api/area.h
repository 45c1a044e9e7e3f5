/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calling thread's area of /dev/tense: percent changes and clock readings
 * without a system call, as <linux/tense.h> specifies them.
 *
 * tense_ring_push() and tense_page_now() are async-signal-safe, use general
 * registers only and leave errno alone.
 */
#ifndef LIBTENSE_AREA_H
#define LIBTENSE_AREA_H

#include <stdbool.h>
#include <stdint.h>

#include "self.h"

struct tense_change {
	uint32_t percent;	/* times TENSE_FINE */
	uint16_t own;	/* counter ticks before it that are Tense's */
	uint8_t slot;
	uint8_t flags;	/* TENSE_RECORD_* */
};

/* Whether the thread has an area and is in an experiment. */
bool tense_area_usable(void);

/* Unmaps the thread's area: from here on tense_push() fails. Not in a handler. */
void tense_area_drop(void);

/* The same in a thread that ends, and gets no further area. */
void tense_area_end(void);

/* Whether tense_area_end() has anything to unmap. */
bool tense_area_exists(void);

/*
 * R13: the kernel does not charge the thread between these calls. fd is a handle of the
 * device. tense_own_work_end() returns false if the thread is in no experiment.
 */
void tense_own_work_begin(int fd);
bool tense_own_work_end(int fd);

/* Returns false if the caller has to call the device first, or instead. */
bool tense_ring_push(const struct tense_change *change);

/*
 * The number of records that the thread has pushed, and whether the kernel has taken
 * so many. Without an area, it has.
 */
uint32_t tense_area_head(void);
bool tense_area_took(uint32_t head);

/* Virtual time in ns, or -EAGAIN: ask the device. */
int64_t tense_page_now(void);

/*
 * The clock TENSE_ORIGIN_* in ns. -EAGAIN: ask the kernel. -ENODATA: the clock is
 * the real one.
 */
int64_t tense_page_clock(unsigned int origin);

/* The same at a virtual time that the kernel has returned. */
int64_t tense_page_clock_at(unsigned int origin, int64_t now);

/* The latest virtual time that the thread read from its page, or 0. */
int64_t tense_page_shown(void);

/*
 * The counter at the last change that was pushed, or at the one "back" changes
 * before it.
 */
uint64_t tense_ring_stamp(unsigned int back);

/* Real ns per tick, times 2^32, or 0 without an area. */
uint64_t tense_page_rate(void);

/*
 * Makes tense_ring_push() work for the thread, if it can. fd is a handle of the
 * device. ours: the caller has checked that it still is one. If not, the function only
 * makes room in the ring, by a call that changes no file of the program. change: the change
 * that did not fit, or NULL. Returns false if the thread still cannot push.
 */
bool tense_area_prepare(int fd, bool ours, const struct tense_change *change);

#endif
