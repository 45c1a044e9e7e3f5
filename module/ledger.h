/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R12: keeps an experiment's share of a CPU independent of its percents. Plain C
 * over plain structs: the module and its tests compile the same file.
 *
 * The run queue lock of a CPU protects everything that belongs to the CPU.
 */
#ifndef TENSE_LEDGER_H
#define TENSE_LEDGER_H

#ifdef __KERNEL__
#include <linux/tense.h>
#include <linux/types.h>
#else
#include "ledger-host.h"
#endif

/* An entity: a task or a group that takes turns in one queue of a CPU. */
struct tense_entity {
	struct tense_ledger *ledger;	/* of its queue; NULL: in no queue */
	struct tense_entity *next;	/* next in the list of that queue */
	struct tense_entity **link;	/* the pointer that points to this entity */
	u64 weight;		/* as it counts in the queue's ledger */
	u64 fast;		/* how many times its speed it runs; FRACTION bits */
	u64 vruntime;		/* after its last charge */
	u64 stretch;		/* the part of vruntime that it did not run */
	/* For a task only: */
	bool alone;		/* it has had the queue for itself since its last charge */
	u64 alone_from;		/* vruntime when that began */
	u64 latest;		/* speed of its last charges that were long enough */
	u64 part_real;		/* ns of later charges, which are too short so far */
	u64 part_charged;
	u64 steady;		/* real ns for which latest has held */
	u64 real;		/* ns since the speed was last steady, older ones less */
	u64 charged;		/* virtual ns of those */
};

/* A ledger: sums over the experiment's entities in one queue of a CPU. */
struct tense_ledger {
	struct tense_ledgers *all;	/* the ledgers of the CPU; set with queue */
	const void *queue;	/* the scheduler's; freed, perhaps, if no entity is in it */
	unsigned int tasks, groups;
	struct tense_entity *first;	/* list of them */
	u64 weight;		/* sum of their weights */
	u64 fast;		/* sum of weight times fast */
	u64 reached;		/* min_vruntime of the queue, as of the last update */
	/*
	 * Real ns, times 1024, that the entities ran beyond their part of the
	 * queue's time since they came in, up to reached. Negative if they ran
	 * less.
	 */
	s64 ahead;
	struct tense_entity group;	/* this queue as an entity of the queue above */
};

#define TENSE_QUEUES	12

/* The ledgers of all queues of a CPU, one queue per control group. */
struct tense_ledgers {
	struct tense_ledger queue[TENSE_QUEUES];
	unsigned int used;	/* number of ledgers with tasks */
};

static inline unsigned int tense_entities(const struct tense_ledger *ledger)
{
	return ledger->tasks + ledger->groups;
}

void tense_entity_init(struct tense_entity *e, const struct tense_entity *parent);
void tense_ledger_enter(struct tense_entity *e, struct tense_ledgers *in,
			const struct tense_place *place);
void tense_ledger_leave(struct tense_entity *e);
void tense_ledger_move_to(struct tense_entity *e,
			  const struct tense_place *place);
void tense_ledger_respeed(struct tense_ledger *ledger, struct tense_entity *e,
			  u64 delta, u64 charged);
struct tense_ledger *tense_ledger_group(struct tense_ledger *below,
					struct tense_ledgers *in,
					const struct tense_place *place);
void tense_ledger_no_group(struct tense_ledger *below);
void tense_ledger_no_groups(struct tense_ledgers *all);
u64 tense_ledger_turn(struct tense_entity *e, unsigned int running, u64 delta,
		      u64 charged, u64 jump);
u64 tense_ledger_charge_in_queue(struct tense_entity *e,
				 const struct tense_place *place,
				 u64 delta, u64 charged, u64 jump);

/*
 * Whether tense_ledger_charge_alone() may charge a task of normal weight that has
 * its queue for itself. The experiment may have tasks in other queues of the CPU.
 */
static inline bool tense_ledger_is_alone(const struct tense_entity *e)
{
	return e->alone && e->ledger->all->used == 1;
}

/*
 * The same as tense_ledger_charge() for a task at @vruntime that is alone. The
 * queue's sums are brought up to date later, when anything but that happens.
 */
static inline u64 tense_ledger_charge_alone(struct tense_entity *e, u64 vruntime,
					    u64 charged)
{
	u64 share = min(charged, TENSE_SHARE_MAX);

	e->vruntime = vruntime + share;
	return share;
}

/* groups.c */
u64 tense_ledger_charge_in_groups(struct tense_entity *e,
				  const struct tense_place *place,
				  u64 delta, u64 charged, u64 jump);

/**
 * tense_ledger_charge() - how much of a task's turn is over
 * @e: the task
 * @place: its place in the queue
 * @delta: real ns that it ran
 * @charged: virtual ns charged for them
 * @jump: virtual ns that count as if it had run them besides
 *
 * Return: ns of run time that use up as much of a turn outside of the experiment.
 */
static inline u64 tense_ledger_charge(struct tense_entity *e,
				      const struct tense_place *place,
				      u64 delta, u64 charged, u64 jump)
{
	if (e->ledger && e->ledger->all->used > 1)
		return tense_ledger_charge_in_groups(e, place, delta, charged,
						     jump);
	return tense_ledger_charge_in_queue(e, place, delta, charged, jump);
}

#endif
