/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R5: GVT, the minimum LVT over the active CPUs.
 *
 * A tree of minima with a lock for each node, so that charges on several CPUs
 * hinder each other little. A CPU that is not the last of its group of eight takes
 * no lock. A CPU that is the last climbs the tree as long as it is.
 *
 * The caller disables interrupts throughout. For each CPU, it makes one call at a
 * time: vclock.h says why. A node's lock is taken alone, never with another one.
 */
#ifndef TENSE_GVT_H
#define TENSE_GVT_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#else
#include "vclock-host.h"
#endif

/* Leaf of a CPU that is not active. */
#define GVT_NONE	(~0ULL)

struct gvt {
	u64 now;		/* as of the last update; under the root's lock if cpus > 1 */
	u64 idle_since;		/* real; under the root's lock */
	unsigned int active;	/* CPUs; written under the root's lock */
	unsigned int cpus;	/* all of them */
	unsigned int leaves;
	unsigned int below_root;	/* number of the root's children in use */
	/*
	 * Node n is the minimum of nodes 8n to 8n + 7, which share a cache line. A
	 * node is written under its lock. A leaf is written by its CPU only.
	 */
	u64 *least;
	raw_spinlock_t *lock;
};

unsigned int gvt_leaves(unsigned int cpus);
void gvt_init(struct gvt *g, u64 *least, raw_spinlock_t *lock,
	      unsigned int cpus, u64 real);
u64 gvt_enter(struct gvt *g, unsigned int cpu, u64 lvt, u64 real);
void gvt_rise(struct gvt *g, unsigned int cpu, u64 before);
void gvt_leave(struct gvt *g, unsigned int cpu, u64 real);
u64 gvt_at(struct gvt *g, u64 real);
void gvt_pass_idle(struct gvt *g, u64 real, u64 to);

/* GVT as of the last update. */
static inline u64 gvt_now(const struct gvt *g)
{
	return READ_ONCE(g->now);
}

/* The same as gvt_raise() for the only CPU. Nobody else writes GVT meanwhile. */
static inline void gvt_raise_only(struct gvt *g, u64 lvt)
{
	WRITE_ONCE(g->least[g->leaves], lvt);
	WRITE_ONCE(g->now, lvt);
}

/* The LVT of an active CPU is now @lvt, and was not later before. */
static inline void gvt_raise(struct gvt *g, unsigned int cpu, u64 lvt)
{
	u64 *leaf = &g->least[g->leaves + cpu], before = *leaf;

	if (lvt == before)
		return;
	if (g->cpus == 1) {
		gvt_raise_only(g, lvt);
		return;
	}
	WRITE_ONCE(*leaf, lvt);
	gvt_rise(g, cpu, before);
}

static inline unsigned int gvt_active(const struct gvt *g)
{
	return READ_ONCE(g->active);
}

#endif
