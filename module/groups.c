// SPDX-License-Identifier: GPL-2.0
/*
 * R12 and R8 for an experiment in several control groups. tense_ledger_charge()
 * stretches each task's turn, as ledger.c describes. This file passes the turn on
 * to the groups above the task. Time that is imagined away in one group then goes
 * to the experiment's other groups, and to no other process.
 *
 * A group is the experiment's while all its runnable tasks and groups on this CPU
 * are. In each queue, tasks and such groups share as ledger.c describes. A group
 * runs at p times its speed, where p is the average over its tasks, sum(w * p) /
 * sum(w). If another process waits in a group, that group and all groups above it
 * are not the experiment's: their turns take real time. The same holds for a group
 * with a limit on its CPU time: time that it leaves to others is not the
 * experiment's to move.
 *
 * The experiment's queues meet in one group. Above that, there is one group at each
 * level, and this file leaves them alone.
 *
 * The run queue lock of the CPU protects everything here.
 */
#ifdef __KERNEL__
#include <linux/lockdep.h>
#include <linux/percpu.h>
#endif

#include "ledger.h"

#define NODES_MAX	24

/* A queue that contains tasks of the experiment, or lies above such a queue. */
struct node {
	const void *queue;
	struct tense_ledger *ledger;	/* NULL: no entity of the experiment is in it */
	struct tense_group group;
	struct node *above;		/* NULL until the queue is added to that one */
	bool whole;			/* the group is the experiment's */
};

struct tree {
	struct node node[NODES_MAX];
	unsigned int nodes;
};

/* Used with interrupts disabled. Too large for the stack. */
static DEFINE_PER_CPU(struct tree, trees);

static struct node *add_node(struct tree *tree, const void *queue,
			     struct tense_ledger *ledger)
{
	struct node *n;

	if (tree->nodes == NODES_MAX)
		return NULL;
	n = &tree->node[tree->nodes++];
	n->queue = queue;
	n->ledger = ledger;
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

/* Adds all queues with tasks. Returns the node of @mine, which is one of @all. */
static struct node *add_leaves(struct tree *tree, struct tense_ledgers *all,
			       const struct tense_ledger *mine)
{
	struct tense_ledger *ledger;
	struct node *n, *found = NULL;

	tree->nodes = 0;
	for (ledger = all->queue; ledger < all->queue + TENSE_QUEUES; ledger++) {
		if (!ledger->tasks)
			continue;
		n = add_node(tree, ledger->queue, ledger);
		if (ledger == mine)
			found = n;
	}
	return found;
}

/* Returns the deepest queue that is not added to one above; NULL if only one is left. */
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
	return n->ledger && tense_entities(n->ledger) >= n->group.running &&
		!n->group.limited;
}

static void enter_above(struct tense_ledgers *all, struct node *n)
{
	struct tense_place place = {
		.queue = n->above->queue,
		.weight = n->group.weight,
		.vruntime = n->group.vruntime,
		.min_vruntime = n->above->group.min_vruntime,
	};
	struct tense_ledger *ledger = tense_ledger_group(n->ledger, all, &place);

	n->whole = ledger;
	if (ledger)
		n->above->ledger = ledger;
}

/* The caller has added all queues below @n to its ledger. */
static bool add_above(struct tense_ledgers *all, struct tree *tree, struct node *n)
{
	n->above = node_of(tree, n->group.above);
	if (!n->above)
		return false;
	if (is_whole(n))
		enter_above(all, n);
	else if (n->ledger)
		tense_ledger_no_group(n->ledger);
	return true;
}

/* The top queue passes nothing on. */
static void end_at_top(struct tree *tree)
{
	struct node *n = tree->node;

	while (n->above)
		n = n->above;
	if (n->ledger)
		tense_ledger_no_group(n->ledger);
}

/* Adds the queues up to the one where all meet; false if there are too many. */
static bool join(struct tense_ledgers *all, struct tree *tree)
{
	struct node *n;

	while ((n = deepest(tree))) {
		if (!add_above(all, tree, n)) {
			tense_ledger_no_groups(all);
			return false;
		}
	}
	end_at_top(tree);
	return true;
}

/**
 * tense_ledger_groups() - pass a task's turn on to its groups
 * @all: the experiment's ledgers on this CPU, several of them in use
 * @ledger: the ledger of the task's queue, one of @all
 * @delta: real ns that the task ran
 * @charged: virtual ns charged for them
 * @jump: virtual ns that count as if it had run them besides
 *
 * Caller holds the CPU's run queue lock.
 */
static void tense_ledger_groups(struct tense_ledgers *all,
				struct tense_ledger *ledger,
				u64 delta, u64 charged, u64 jump)
{
	struct tree *tree = this_cpu_ptr(&trees);
	struct node *n = add_leaves(tree, all, ledger);
	u64 share;

	lockdep_assert_irqs_disabled();

	if (!join(all, tree))
		return;
	for (; n->above && n->whole; n = n->above) {
		share = tense_ledger_turn(&n->ledger->group, n->above->group.running,
					  delta, charged, jump);
		tense_group_owes(n->queue, share - delta);
	}
}

/* tense_ledger_charge() for an experiment in several queues of the CPU. */
u64 tense_ledger_charge_in_groups(struct tense_entity *e,
				  const struct tense_place *place,
				  u64 delta, u64 charged, u64 jump)
{
	struct tense_ledger *ledger = e->ledger;

	lockdep_assert_irqs_disabled();

	tense_ledger_move_to(e, place);
	tense_ledger_respeed(ledger, e, delta, charged);
	tense_ledger_groups(ledger->all, ledger, delta, charged, jump);
	return tense_ledger_turn(e, place->running, delta, charged, jump);
}
