/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of one CPU's queues of CFS, in which tasks of an experiment and
 * others compute and sleep. It computes what each was due: its part, by weight,
 * of the time that its queue ran while it was ready. module/ledger.c and
 * module/groups.c decide how long each turn takes.
 */
#ifndef TESTS_CFS_H
#define TESTS_CFS_H

#include "module/ledger.h"
#include "tests/sim/rng.h"

#define CFS_TASKS	32
#define CFS_GROUPS	8
#define CFS_NEVER	UINT64_MAX

/* The kernel's, of one CPU. */
#define CFS_LATENCY	6000000ULL
#define CFS_GRANULE	750000ULL

struct cfs;
struct cfs_queue;

/* An entry of a queue: a task or a group. */
struct cfs_entity {
	struct cfs_queue *queue;	/* NULL: above all groups */
	struct cfs_queue *below;	/* the group's own; NULL: a task */
	bool ready;
	u64 weight;
	u64 vruntime;
	u64 turn;		/* so far */
	double ran, due;	/* ns */
	double lag;		/* the worst due - ran */
};

struct cfs_queue {
	struct cfs_entity group;	/* owns this queue */
	struct cfs_entity *running;
	u64 min_vruntime;
	s64 owed;		/* by tense_group_owes() */
};

/* How fast it runs, as so many times its speed, and for how long. */
struct cfs_phase {
	double fast;
	u64 ns;
};

struct cfs_task {
	struct cfs_entity entity;
	bool member;		/* belongs to the experiment */
	bool exists;
	struct tense_entity tense;	/* the same task in the module's ledger */
	struct cfs_phase phase;	/* the rest of the current one */
	/* Returns its next phase; NULL: it goes on as it does. */
	struct cfs_phase (*next)(struct cfs *cfs, struct cfs_task *t);
	struct cfs_phase turns[2];	/* for next() to use */
	unsigned int phases;	/* so many before */
	/* It runs and sleeps for up to twice so long, each time; 0: never sleeps. */
	u64 runs, sleeps;
	u64 until_sleep, wake;
};

struct cfs {
	struct rng rng;
	u64 tick;
	u64 now, next_tick;
	struct cfs_queue queue[CFS_GROUPS];	/* the first is above all groups */
	unsigned int queues;
	struct cfs_task task[CFS_TASKS];
	struct cfs_task *running;
	struct tense_ledgers ledgers;
	/* ns that the experiment ran and was not charged, and the most so far */
	double unpaid, most_unpaid;
};

void cfs_init(struct cfs *cfs, u64 seed, u64 tick);
struct cfs_queue *cfs_group(struct cfs *cfs, struct cfs_queue *above);
struct cfs_task *cfs_add(struct cfs *cfs, bool member, double fast);
struct cfs_task *cfs_add_to(struct cfs *cfs, struct cfs_queue *queue, bool member,
			    double fast);
void cfs_end(struct cfs *cfs, struct cfs_task *t);
void cfs_run(struct cfs *cfs, u64 ns);
double cfs_share(const struct cfs *cfs, const struct cfs_task *t);

#endif
