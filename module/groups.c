// SPDX-License-Identifier: GPL-2.0
/*
 * R12 and R8 where an experiment is in several control groups: what its tasks'
 * turns take is handed on to their groups', so that time that is imagined away
 * in one group goes to the experiment's others, and to nobody else.
 *
 * A group is the experiment's while all that is runnable in it is, on this CPU:
 * its tasks, and such groups. In each queue, these share among themselves as
 * tasks do (share.c); a group runs as many times its speed as the tasks in it
 * do together, sum(w * p) / sum(w). A group in which anybody else waits is one of
 * the others, with all that is above: its turns take what they really take. So is
 * one that may have so much of the CPU and no more: what it would have left to
 * others is not the experiment's to move.
 *
 * Above the group in which the experiment's queues meet there is one group of it
 * at each level, which takes no part in anything.
 */
#include <linux/math64.h>

#include "tense.h"

#define NODES_MAX	24

/* A queue that has tasks of the experiment, or is above one. */
struct node {
	struct tense_share sum;		/* of tasks, and of groups that are its */
	struct tense_group group;
	struct node *above;		/* NULL as long as it is not added there */
	bool whole;			/* it is the experiment's */
};

struct tree {
	struct node node[NODES_MAX];
	unsigned int nodes;
};

/* Interrupts are disabled while it is used: too large for the stack. */
static DEFINE_PER_CPU(struct tree, trees);

static struct node *add_node(struct tree *tree, const struct tense_share *sum)
{
	struct node *n;

	if (tree->nodes == NODES_MAX)
		return NULL;
	n = &tree->node[tree->nodes++];
	n->sum = *sum;
	n->group = tense_group_of(sum->queue);
	n->above = NULL;
	n->whole = false;
	return n;
}

static struct node *node_of(struct tree *tree, const void *queue)
{
	struct tense_share none = { .queue = queue };
	struct node *n;

	for (n = tree->node; n < tree->node + tree->nodes; n++)
		if (n->sum.queue == queue)
			return n;
	return add_node(tree, &none);
}

/* Returns the node of these sums, which are among all. */
static struct node *add_leaves(struct tree *tree, const struct tense_shares *all,
			       const struct tense_share *mine)
{
	const struct tense_share *s;
	struct node *n, *found = NULL;

	tree->nodes = 0;
	for (s = all->queue; s < all->queue + TENSE_QUEUES; s++) {
		if (!s->tasks)
			continue;
		n = add_node(tree, s);
		if (s == mine)
			found = n;
	}
	return found;
}

/* The deepest of the queues that have not met; NULL if all have. */
static struct node *deepest(struct tree *tree)
{
	struct node *n, *found = NULL;
	unsigned int open = 0;

	for (n = tree->node; n < tree->node + tree->nodes; n++) {
		if (n->above)
			continue;
		open++;
		if (!found || n->group.depth > found->group.depth)
			found = n;
	}
	return open > 1 ? found : NULL;
}

/* All that is below it has been added to its sums. */
static bool add_above(struct tree *tree, struct node *n)
{
	const struct tense_share *sum = &n->sum;
	struct node *above = node_of(tree, n->group.above);

	if (!above)
		return false;
	n->above = above;
	n->whole = sum->tasks && sum->tasks >= n->group.running &&
		   !n->group.limited;
	if (n->whole) {
		above->sum.tasks++;
		above->sum.weight += n->group.weight;
		above->sum.fast += mul_u64_u64_div_u64(n->group.weight,
						       sum->fast, sum->weight);
	}
	return true;
}

/* False if there are too many queues on the way. */
static bool join(struct tree *tree)
{
	struct node *n;

	while ((n = deepest(tree)))
		if (!add_above(tree, n))
			return false;
	return true;
}

/* How much of a turn in this queue is over. */
static u64 turn(const struct node *n, u64 delta, u64 charged)
{
	return tense_share_in(&n->sum, n->group.running, delta, charged);
}

/**
 * tense_share_groups() - how much of the turns of a task and its groups is over
 * @all: of an experiment's tasks on a CPU, in several queues
 * @s: of those in the queue of the task; among these
 * @delta: real ns that it ran
 * @charged: virtual ns that this made
 * @jump: virtual ns that it is to have run besides
 *
 * The CPU's runqueue is locked.
 *
 * Return: as many ns as a task outside would have run in the task's place.
 */
u64 tense_share_groups(const struct tense_shares *all,
		       const struct tense_share *s, u64 delta, u64 charged,
		       u64 jump)
{
	struct tree *tree = this_cpu_ptr(&trees);
	struct node *n = add_leaves(tree, all, s);
	u64 mine;

	lockdep_assert_irqs_disabled();

	if (!join(tree))
		return tense_share_in(s, n->group.running, delta, charged) + jump;
	mine = turn(n, delta, charged) + jump;
	for (; n->above && n->whole; n = n->above)
		tense_group_owes(n->sum.queue,
				 turn(n->above, delta, charged) + jump - delta);
	return mine;
}
