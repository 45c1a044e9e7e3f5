/* SPDX-License-Identifier: GPL-2.0 */
/*
 * R5: GVT, the minimum over the LVTs of the active CPUs.
 *
 * A tree with a lock for each node, so that CPUs that charge get into each
 * other's way as little as they can: who is not the last of its group of eight
 * takes no lock, and who is climbs as far as it is the last. Interrupts are
 * disabled throughout. What belongs to one CPU is called by one at a time.
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

/* An LVT of no CPU that is active. */
#define GVT_NONE	(~0ULL)

struct gvt {
	u64 now;		/* up to the last call; root's lock to write */
	u64 idle_since;		/* real; root's lock */
	unsigned int active;	/* CPUs; root's lock to write */
	unsigned int leaves;
	unsigned int below_root;	/* its children that are in use */
	/*
	 * Node n is the minimum of nodes 8n to 8n + 7, which share a cache line,
	 * and is written under its lock; leaves are written by their CPUs.
	 */
	u64 *least;
	raw_spinlock_t *lock;
};

unsigned int gvt_leaves(unsigned int cpus);
void gvt_init(struct gvt *g, u64 *least, raw_spinlock_t *lock,
	      unsigned int cpus, u64 real);
u64 gvt_enter(struct gvt *g, unsigned int cpu, u64 lvt, u64 real);
void gvt_raise(struct gvt *g, unsigned int cpu, u64 lvt);
void gvt_leave(struct gvt *g, unsigned int cpu, u64 real);
u64 gvt_at(struct gvt *g, u64 real);
void gvt_pass_idle(struct gvt *g, u64 real, u64 to);

/* GVT up to the last call. */
static inline u64 gvt_now(const struct gvt *g)
{
	return READ_ONCE(g->now);
}

static inline unsigned int gvt_active(const struct gvt *g)
{
	return READ_ONCE(g->active);
}

#endif
