/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R12: keeps an experiment's share of a CPU independent of its percents. Plain C
 * over plain structs: the module and its tests compile the same file.
 *
 * The run queue lock of a CPU protects everything that belongs to the CPU.
 */
#ifndef TENSE_SHARE_H
#define TENSE_SHARE_H

#ifdef __KERNEL__
#include <linux/tense.h>
#include <linux/types.h>
#else
#include "share-host.h"
#endif

/* A sharer: a task or a group that takes turns in one queue of a CPU. */
struct tense_sharer {
	struct tense_shares *in;	/* NULL: in no queue */
	u8 queue;		/* index into in->queue */
	struct tense_sharer *next;	/* next in the list of that queue */
	struct tense_sharer **link;	/* the pointer that points to this sharer */
	u64 weight;		/* as it counts in the queue's sums */
	u64 fast;		/* how many times its speed it runs; FRACTION bits */
	u64 vruntime;		/* after its last charge */
	u64 stretch;		/* the part of vruntime that it did not run */
	/* For a task only: */
	u64 latest;		/* speed of its last charges that were long enough */
	u64 part_real;		/* ns of later charges, which are too short so far */
	u64 part_charged;
	u64 steady;		/* real ns for which latest has held */
	u64 real;		/* ns since the speed was last steady, older ones less */
	u64 charged;		/* virtual ns of those */
};

/* Sums over the experiment's sharers in one queue of a CPU. */
struct tense_share {
	const void *queue;	/* the scheduler's; freed, perhaps, if no sharer is in it */
	unsigned int tasks, groups;
	struct tense_sharer *first;	/* list of them */
	u64 weight;		/* sum of their weights */
	u64 fast;		/* sum of weight times fast */
	u64 reached;		/* min_vruntime of the queue, as of the last update */
	/*
	 * Real ns, times 1024, that the sharers ran beyond their part of the
	 * queue's time since they came in, up to reached. Negative if they ran
	 * less.
	 */
	s64 ahead;
	struct tense_sharer group;	/* this queue as a sharer of the queue above */
};

#define TENSE_QUEUES	12

/* The sums of all queues of a CPU, one queue per control group. */
struct tense_shares {
	struct tense_share queue[TENSE_QUEUES];
	unsigned int used;	/* number of queues with tasks */
};

static inline unsigned int tense_sharers(const struct tense_share *s)
{
	return s->tasks + s->groups;
}

/* The sums of the queue that the sharer is in. */
static inline struct tense_share *tense_share_of(const struct tense_sharer *t)
{
	return &t->in->queue[t->queue];
}

void tense_share_init(struct tense_sharer *t, const struct tense_sharer *parent);
void tense_share_enter(struct tense_sharer *t, struct tense_shares *in,
		       const struct tense_place *place);
void tense_share_leave(struct tense_sharer *t);
void tense_share_move_to(struct tense_sharer *t,
			 const struct tense_place *place);
void tense_share_respeed(struct tense_share *s, struct tense_sharer *t,
			 u64 delta, u64 charged);
struct tense_share *tense_share_group(struct tense_share *below,
				      struct tense_shares *in,
				      const struct tense_place *place);
void tense_share_no_group(struct tense_share *below);
void tense_share_no_groups(struct tense_shares *all);
u64 tense_share_turn(struct tense_sharer *t, unsigned int running, u64 delta,
		     u64 charged, u64 jump);

/* groups.c */
u64 tense_share(struct tense_sharer *t, const struct tense_place *place,
		u64 delta, u64 charged, u64 jump);

#endif
