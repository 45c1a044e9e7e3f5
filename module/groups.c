// SPDX-License-Identifier: GPL-2.0
/*
 * R12 and R8 where an experiment is in several control groups: what its tasks'
 * turns take is handed on to their groups', so that time that is imagined away
 * in one group goes to the experiment's others, and to nobody else.
 *
 * A group is the experiment's while all that is runnable in it is, on this CPU:
 * its tasks, and such groups. In each queue, these share among themselves as
 * tasks do, and are held to what is theirs (share.c); a group runs as many times
 * its speed as the tasks in it do together, sum(w * p) / sum(w). A group in which
 * anybody else waits is one of the others, with all that is above: its turns take
 * what they really take. So is one that may have so much of the CPU and no more:
 * what it would have left to others is not the experiment's to move.
 *
 * Above the group in which the experiment's queues meet there is one group of it
 * at each level, which takes no part in anything.
 */
#ifdef __KERNEL__
#include <linux/lockdep.h>
#include <linux/percpu.h>
#endif

#include "share.h"

#define NODES_MAX	24

/* A queue that has tasks of the experiment, or is above one. */
struct node {
	const void *queue;
	struct tense_share *sum;	/* NULL: nothing in it is the experiment's */
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

static struct node *add_node(struct tree *tree, const void *queue,
			     struct tense_share *sum)
{
	struct node *n;

	if (tree->nodes == NODES_MAX)
		return NULL;
	n = &tree->node[tree->nodes++];
	n->queue = queue;
	n->sum = sum;
	n->group = tense_group_of(queue);
	n->above = NULL;
	n->whole = false;
	return n;
}

static struct node *node_of(struct tree *tree, const void *queue)
{
	struct node *n;

	for (n = tree->node; n < tree->node + tree->nodes; n++)
		if (n->queue == queue)
			return n;
	return add_node(tree, queue, NULL);
}

/* Returns the node of these sums, which are among all. */
static struct node *add_leaves(struct tree *tree, struct tense_shares *all,
			       const struct tense_share *mine)
{
	struct tense_share *s;
	struct node *n, *found = NULL;

	tree->nodes = 0;
	for (s = all->queue; s < all->queue + TENSE_QUEUES; s++) {
		if (!s->tasks)
			continue;
		n = add_node(tree, s->queue, s);
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

static bool is_whole(const struct node *n)
{
	return n->sum && tense_sharers(n->sum) >= n->group.running &&
		!n->group.limited;
}

static void share_above(struct tense_shares *all, struct node *n)
{
	struct tense_place place = {
		.queue = n->above->queue,
		.weight = n->group.weight,
		.vruntime = n->group.vruntime,
		.min_vruntime = n->above->group.min_vruntime,
	};
	struct tense_share *sum = tense_share_group(n->sum, all, &place);

	n->whole = sum;
	if (sum)
		n->above->sum = sum;
}

/* All that is below it has been added to its sums. */
static bool add_above(struct tense_shares *all, struct tree *tree, struct node *n)
{
	n->above = node_of(tree, n->group.above);
	if (!n->above)
		return false;
	if (is_whole(n))
		share_above(all, n);
	else if (n->sum)
		tense_share_no_group(n->sum);
	return true;
}

/* Above the last one, nothing is to be handed on. */
static void end_at_top(struct tree *tree)
{
	struct node *n = tree->node;

	while (n->above)
		n = n->above;
	if (n->sum)
		tense_share_no_group(n->sum);
}

/* False if there are too many queues on the way. */
static bool join(struct tense_shares *all, struct tree *tree)
{
	struct node *n;

	while ((n = deepest(tree))) {
		if (!add_above(all, tree, n)) {
			tense_share_no_groups(all);
			return false;
		}
	}
	end_at_top(tree);
	return true;
}

/**
 * tense_share_groups() - how much of the turns of a task's groups is over
 * @all: of an experiment's on a CPU, in several queues
 * @s: of those in the queue of the task; among these
 * @delta: real ns that it ran
 * @charged: virtual ns that this made
 * @jump: virtual ns that it is to have run besides
 *
 * The CPU's runqueue is locked.
 */
void tense_share_groups(struct tense_shares *all, struct tense_share *s,
			u64 delta, u64 charged, u64 jump)
{
	struct tree *tree = this_cpu_ptr(&trees);
	struct node *n = add_leaves(tree, all, s);
	u64 share;

	lockdep_assert_irqs_disabled();

	if (!join(all, tree))
		return;
	for (; n->above && n->whole; n = n->above) {
		share = tense_share_turn(&n->sum->group, n->above->group.running,
					 delta, charged, jump);
		tense_group_owes(n->queue, share - delta);
	}
}
