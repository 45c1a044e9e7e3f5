/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R12: an experiment's share of a CPU is not its percents'. As plain C over plain
 * structs, so that the module and the tests of it compile the same file.
 *
 * All of it is under the lock of the runqueue of the CPU that it is about.
 */
#ifndef TENSE_SHARE_H
#define TENSE_SHARE_H

#ifdef __KERNEL__
#include <linux/tense.h>
#include <linux/types.h>
#else
#include "share-host.h"
#endif

/* The part that a task or a group has in what a queue's have together. */
struct tense_sharer {
	struct tense_shares *in;	/* NULL: in no queue */
	u8 queue;		/* which of them */
	struct tense_sharer *next;	/* in that queue, */
	struct tense_sharer **link;	/* and what leads to this one */
	u64 weight;		/* what they have of it */
	u64 fast;
	u64 vruntime;		/* after its last charge */
	u64 stretch;		/* how much of that is not what it ran */
	/* Of a task: */
	u64 latest;		/* its speed of its last charges that told one */
	u64 part_real;		/* ns, of later ones, too short for that */
	u64 part_charged;
	u64 steady;		/* real ns for which it has been that */
	u64 real;		/* ns, since it was last steady, the older less */
	u64 charged;
};

/* Of the experiment's in one queue of a CPU: tasks, and groups that are its. */
struct tense_share {
	const void *queue;	/* of the scheduler's; gone, maybe, if none is in it */
	unsigned int tasks, groups;
	struct tense_sharer *first;	/* of them */
	u64 weight;		/* sums over them */
	u64 fast;		/* weight times how many times its speed each runs */
	u64 reached;		/* the queue's min_vruntime */
	/*
	 * Real ns, times 1024, that they ran beyond what was theirs while it got
	 * there from where they came in; less than 0 if they lack some.
	 */
	s64 ahead;
	struct tense_sharer group;	/* what is below this queue, in the next one */
};

#define TENSE_QUEUES	12

/* In all queues of a CPU, those of groups. */
struct tense_shares {
	struct tense_share queue[TENSE_QUEUES];
	unsigned int used;	/* that have tasks */
};

static inline unsigned int tense_sharers(const struct tense_share *s)
{
	return s->tasks + s->groups;
}

void tense_share_init(struct tense_sharer *t, const struct tense_sharer *parent);
void tense_share_enter(struct tense_sharer *t, struct tense_shares *in,
		       const struct tense_place *place);
void tense_share_leave(struct tense_sharer *t);
u64 tense_share(struct tense_sharer *t, const struct tense_place *place,
		u64 delta, u64 charged, u64 jump);
struct tense_share *tense_share_group(struct tense_share *below,
				      struct tense_shares *in,
				      const struct tense_place *place);
void tense_share_no_group(struct tense_share *below);
void tense_share_no_groups(struct tense_shares *all);
u64 tense_share_turn(struct tense_sharer *t, unsigned int running, u64 delta,
		     u64 charged, u64 jump);

/* groups.c */
void tense_share_groups(struct tense_shares *all, struct tense_share *s,
			u64 delta, u64 charged, u64 jump);

#endif
