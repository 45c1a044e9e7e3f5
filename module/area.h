/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread's area, for area.c, which allocates it, charge.c, which reads the ring,
 * and page.c, which writes the clock page.
 *
 * t->lock protects stolen_at, taken, clock_changes and what is written to the page.
 * The other fields are constant, except refs.
 */
#ifndef TENSE_AREA_H
#define TENSE_AREA_H

#include <linux/refcount.h>
#include <linux/tense.h>
#include <uapi/linux/tense.h>

#define CLOCK_PAGES	(TENSE_RING_OFFSET / PAGE_SIZE)
#define RING_PAGES	(TENSE_RING_SIZE / PAGE_SIZE)
#define SHARED_PAGES	(TENSE_SHARED_SIZE / PAGE_SIZE)
#define AREA_PAGES	(CLOCK_PAGES + RING_PAGES + SHARED_PAGES)

struct tense_area {
	refcount_t refs;	/* one for the task, one per mapping */
	struct tense_user *user;	/* the area counts against its limit until freed */
	struct tense_clock *clock;	/* followed by the ring */
	u64 rate;
	u64 stale;		/* STALE_NS in ticks of the counter */
	u64 stale_stolen;	/* STALE_STOLEN_NS in ticks of the counter */
	unsigned long stolen_at;	/* jiffies: when time was last stolen */
	u64 taken;		/* ring->shown as of the last charge that looked at it */
	s64 shift[TENSE_CLOCKS];	/* offsets of the thread's time namespace */
	unsigned int clock_changes;	/* exp->clock_changes as shown; 0: none yet */
	struct page *page[AREA_PAGES];
};

static inline struct tense_ring *tense_ring_of(const struct tense_area *area)
{
	return (void *)area->clock + TENSE_RING_OFFSET;
}

#endif
