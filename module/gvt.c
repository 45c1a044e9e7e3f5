// SPDX-License-Identifier: GPL-2.0
/*
 * GVT as a tree of minima; gvt.h states the locking.
 *
 * A CPU that raises its leaf and a CPU that gathers the minimum above it do not
 * exclude each other. The first writes its leaf and then reads the minimum. The
 * second writes the minimum and then reads the leaves once more. One of the two
 * sees the other's write, so no minimum stays behind.
 */
#include "gvt.h"

#define FAN	8
#define ROOT	1

/*
 * Returns the number of leaves for so many CPUs. It is also the size of the array
 * of locks, and half the size of the array of minima.
 */
unsigned int gvt_leaves(unsigned int cpus)
{
	unsigned int leaves = FAN;

	while (leaves < cpus)
		leaves *= FAN;
	return leaves;
}

/*
 * @least and @lock are arrays of 2 * gvt_leaves(@cpus) and gvt_leaves(@cpus)
 * elements that live as long as @g. Time starts at 0, with no CPU active.
 */
void gvt_init(struct gvt *g, u64 *least, raw_spinlock_t *lock,
	      unsigned int cpus, u64 real)
{
	unsigned int leaves = gvt_leaves(cpus), each = leaves / FAN, i;

	*g = (struct gvt) {
		.idle_since = real,
		.cpus = cpus,
		.leaves = leaves,
		.below_root = (cpus + each - 1) / each,
		.least = least,
		.lock = lock,
	};
	for (i = 0; i < 2 * leaves; i++)
		least[i] = GVT_NONE;
	for (i = 0; i < leaves; i++)
		raw_spin_lock_init(&lock[i]);
}

static const u64 *least_child(const struct gvt *g, unsigned int node,
			      u64 *least)
{
	const u64 *child = &g->least[node * FAN], *found = child;
	unsigned int children = node == ROOT ? g->below_root : FAN, i;
	u64 value;

	*least = READ_ONCE(child[0]);
	for (i = 1; i < children; i++) {
		value = READ_ONCE(child[i]);
		if (value < *least) {
			*least = value;
			found = &child[i];
		}
	}
	return found;
}

/*
 * Updates the minimum of a node and returns the old one. Looks again if the child
 * with the minimum rose meanwhile; a rise of another child does not matter.
 */
static u64 gather(struct gvt *g, unsigned int node)
{
	u64 before = g->least[node], least;
	const u64 *child;

	lockdep_assert_held(&g->lock[node]);

	do {
		child = least_child(g, node, &least);
		if (least == g->least[node])
			break;
		WRITE_ONCE(g->least[node], least);
		smp_mb();	/* pairs with rise() */
	} while (READ_ONCE(*child) != least);
	return before;
}

/* Updates all nodes from above the leaf to below the root. */
static void climb(struct gvt *g, unsigned int cpu)
{
	unsigned int node;

	for (node = (g->leaves + cpu) / FAN; node > ROOT; node /= FAN) {
		raw_spin_lock(&g->lock[node]);
		gather(g, node);
		raw_spin_unlock(&g->lock[node]);
	}
}

/* While no CPU is active, GVT follows real time. */
static void follow(struct gvt *g, u64 real)
{
	lockdep_assert_held(&g->lock[ROOT]);

	if (real <= g->idle_since)
		return;
	WRITE_ONCE(g->now, g->now + (real - g->idle_since));
	g->idle_since = real;
}

/* R5: GVT never falls. A CPU's leaf may have a value before the CPU counts as active. */
static void gather_root(struct gvt *g)
{
	u64 least;

	gather(g, ROOT);
	least = g->least[ROOT];
	if (g->active && least != GVT_NONE && least > g->now)
		WRITE_ONCE(g->now, least);
}

/*
 * For gvt_raise(): the leaf of a CPU rose from @before. Updates each node above as
 * long as @before may have been its minimum.
 */
void gvt_rise(struct gvt *g, unsigned int cpu, u64 before)
{
	unsigned int node = g->leaves + cpu;

	for (node /= FAN; node > ROOT; node /= FAN) {
		smp_mb();	/* the child, before its parent; pairs with gather() */
		if (before > READ_ONCE(g->least[node]))
			return;
		raw_spin_lock(&g->lock[node]);
		before = gather(g, node);
		raw_spin_unlock(&g->lock[node]);
	}
	smp_mb();	/* the child, before the root; pairs with gather() */
	if (before > READ_ONCE(g->least[ROOT]))
		return;
	raw_spin_lock(&g->lock[ROOT]);
	gather_root(g);
	raw_spin_unlock(&g->lock[ROOT]);
}

/*
 * A CPU turns active at @lvt, or at GVT if that is later. Returns this time. From
 * then on GVT does not pass it.
 */
u64 gvt_enter(struct gvt *g, unsigned int cpu, u64 lvt, u64 real)
{
	u64 now = gvt_at(g, real);

	lvt = max(lvt, now);
	WRITE_ONCE(g->least[g->leaves + cpu], lvt);
	climb(g, cpu);
	raw_spin_lock(&g->lock[ROOT]);
	if (!g->active)
		follow(g, real);
	WRITE_ONCE(g->active, g->active + 1);
	gather_root(g);
	now = g->now;
	raw_spin_unlock(&g->lock[ROOT]);
	/* GVT may have passed the leaf's value on its way up. */
	if (now > lvt) {
		lvt = now;
		gvt_raise(g, cpu, lvt);
	}
	return lvt;
}

/* A CPU is no longer active. */
void gvt_leave(struct gvt *g, unsigned int cpu, u64 real)
{
	WRITE_ONCE(g->least[g->leaves + cpu], GVT_NONE);
	climb(g, cpu);
	raw_spin_lock(&g->lock[ROOT]);
	WRITE_ONCE(g->active, g->active - 1);
	/* A CPU that left later may have taken the lock earlier. */
	g->idle_since = max(g->idle_since, real);
	gather_root(g);
	raw_spin_unlock(&g->lock[ROOT]);
}

/* Returns GVT at a real time, which GVT follows while no CPU is active. */
u64 gvt_at(struct gvt *g, u64 real)
{
	u64 now;

	if (gvt_active(g))
		return gvt_now(g);
	raw_spin_lock(&g->lock[ROOT]);
	now = g->now;
	if (!g->active && real > g->idle_since)
		now += real - g->idle_since;
	raw_spin_unlock(&g->lock[ROOT]);
	return now;
}

/* If no CPU is active, brings GVT up to a real time, and at least up to @to. */
void gvt_pass_idle(struct gvt *g, u64 real, u64 to)
{
	if (gvt_active(g))
		return;
	raw_spin_lock(&g->lock[ROOT]);
	if (!g->active) {
		follow(g, real);
		if (to > g->now)
			WRITE_ONCE(g->now, to);
	}
	raw_spin_unlock(&g->lock[ROOT]);
}
