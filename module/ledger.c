// SPDX-License-Identifier: GPL-2.0
/*
 * R12: keeps an experiment's share of a CPU independent of its percents. A task
 * that is imagined faster gets more of the CPU, as if it had run for less time. If
 * tasks of other processes wait in the same queue, they must not pay for that. In
 * such a queue, this file stretches the turns of all the experiment's tasks by one
 * factor. Together they then get as much as they would at percent 100.
 *
 * A task of weight w that runs at p times its speed gets a share of w * p. So the
 * factor is sum(w * p) / sum(w). If no other process waits, the factor is 1:
 * slices, preemption and credits are those of the imagined program (R8).
 *
 * The factor is right for speeds that stay. The tasks are never ahead by more than
 * SLACK each, whatever the percents do. This file compares their run time with
 * their part of the queue's min_vruntime. A task that is too far ahead pays in
 * full.
 *
 * ledger.h states the locking.
 */
#ifdef __KERNEL__
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#endif

#include "ledger.h"

#define FRACTION	16	/* bits of the fraction in a speed */
#define LONG_ENOUGH	10000	/* ns that show the speed at which a task ran */
#define STEADY		8000000ULL	/* ns after which a speed counts as steady */
#define MEMORY		256000000ULL	/* ns of changing speeds to average over */
#define NICE_0		1024	/* the weight whose vruntime is in ns */
/* For each task, in ns of vruntime: */
#define SLACK		20000000LL	/* allowed lead, which turns of two ticks cause */
#define LEADS_MAX	8	/* entities that leads() looks at, which takes time */
#define CREDIT		1000000000LL	/* lack that the tasks get back later */

static void add(struct tense_ledger *s, u64 weight, u64 fast)
{
	s->weight += weight;
	s->fast += weight * fast;
}

/* The sums contain the old values: call this before changing weight or fast. */
static void subtract(struct tense_ledger *s, const struct tense_entity *t)
{
	s->weight -= t->weight;
	s->fast -= t->weight * t->fast;
}

/*
 * Returns the ledger of a queue, in use or left from before, else an unused one.
 * NULL if all TENSE_QUEUES are in use.
 */
static struct tense_ledger *find(struct tense_ledgers *all, const void *queue)
{
	struct tense_ledger *s, *unused = NULL;

	for (s = all->queue; s < all->queue + TENSE_QUEUES; s++) {
		if (s->queue == queue)
			return s;
		if (!tense_entities(s) && (!unused || !s->queue))
			unused = s;
	}
	return unused;
}

/*
 * Counts the experiment's part of the vruntime that passed in the queue. Without
 * entities the part is nothing, and min_vruntime may be that of another queue at
 * the same address.
 */
static void advance(struct tense_ledger *s, u64 min_vruntime)
{
	s64 passed = min_vruntime - s->reached;

	if (tense_entities(s) && passed <= 0)
		return;
	s->reached = min_vruntime;
	/* Limited, so that the product with a weight of thousands does not overflow. */
	passed = min(passed, 2 * CREDIT);
	s->ahead = max_t(s64, s->ahead - s->weight * passed,
			 -CREDIT * (s64)s->weight);
}

/* The lead of the task itself, as it would have it at percent 100. */
static s64 lead(const struct tense_ledger *s, const struct tense_entity *t)
{
	s64 waits = t->vruntime - s->reached;

	if (waits > 0)
		waits = max_t(s64, waits - t->stretch, 0);
	return waits * (s64)t->weight;
}

/* Returns the ledger of the queue at @place; NULL if all ledgers are in use. */
static struct tense_ledger *reach(struct tense_ledgers *in,
				  const struct tense_place *place)
{
	struct tense_ledger *s = find(in, place->queue);

	if (!s)
		return NULL;
	if (s->queue != place->queue) {
		s->queue = place->queue;
		s->ahead = 0;
		s->group.stretch = 0;
	}
	advance(s, place->min_vruntime);
	return s;
}

static void link(struct tense_ledger *s, struct tense_entity *t)
{
	t->next = s->first;
	t->link = &s->first;
	if (t->next)
		t->next->link = &t->next;
	s->first = t;
}

static void unlink(struct tense_entity *t)
{
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
}

static void put(struct tense_entity *t, struct tense_ledgers *in,
		struct tense_ledger *s, const struct tense_place *place)
{
	t->in = in;
	t->queue = s - in->queue;
	t->weight = place->weight;
	t->vruntime = place->vruntime;
	link(s, t);
	add(s, t->weight, t->fast);
	s->ahead += lead(s, t);
}

/*
 * Removes an entity. Its own lead leaves with it. The lead that its stretched turns
 * gave to the others stays.
 */
static struct tense_ledger *take(struct tense_entity *t)
{
	struct tense_ledger *s = tense_ledger_of(t);

	s->ahead -= lead(s, t);
	subtract(s, t);
	unlink(t);
	t->in = NULL;
	return s;
}

/**
 * tense_entity_init() - initialise a task that never ran
 * @t: the task
 * @parent: the task whose percent it inherits, or NULL
 */
void tense_entity_init(struct tense_entity *t, const struct tense_entity *parent)
{
	t->in = NULL;
	t->fast = parent ? parent->fast : 1 << FRACTION;
	t->latest = t->fast;
	t->stretch = 0;
}

/**
 * tense_ledger_enter() - a task waits for its turn in a queue
 * @t: the task
 * @in: the experiment's ledgers on that CPU
 * @place: its place there
 *
 * An experiment may be in more queues of a CPU than there are ledgers. Tasks in
 * the further queues have shares as if they were alone.
 */
void tense_ledger_enter(struct tense_entity *t, struct tense_ledgers *in,
			const struct tense_place *place)
{
	struct tense_ledger *s;

	lockdep_assert_irqs_disabled();

	tense_ledger_leave(t);
	if (!place->queue)
		return;
	s = reach(in, place);
	if (!s)
		return;
	if (!s->tasks++)
		in->used++;
	put(t, in, s, place);
}

/**
 * tense_ledger_no_group() - a queue is no longer an entity of the queue above
 * @below: the ledger of the queue, in which others wait, too
 */
void tense_ledger_no_group(struct tense_ledger *below)
{
	while (below->group.in) {
		below = take(&below->group);
		below->groups--;
		if (tense_entities(below))
			break;
	}
}

/**
 * tense_ledger_no_groups() - no queue passes turns on to the queue above
 * @all: the experiment's ledgers on a CPU
 */
void tense_ledger_no_groups(struct tense_ledgers *all)
{
	struct tense_ledger *s;

	for (s = all->queue; s < all->queue + TENSE_QUEUES; s++)
		tense_ledger_no_group(s);
}

/**
 * tense_ledger_leave() - a task leaves its queue
 * @t: the task, which may be in none
 */
void tense_ledger_leave(struct tense_entity *t)
{
	struct tense_ledgers *all = t->in;
	struct tense_ledger *s;

	lockdep_assert_irqs_disabled();

	if (!all)
		return;
	s = take(t);
	if (--s->tasks)
		return;
	if (!s->groups)
		tense_ledger_no_group(s);
	if (--all->used == 1)
		tense_ledger_no_groups(all);
}

static bool alike(u64 a, u64 b)
{
	return max(a, b) - min(a, b) <= a >> 4;
}

static void remember(struct tense_entity *t, u64 delta, u64 charged)
{
	if (t->real > MEMORY) {
		t->real /= 2;
		t->charged /= 2;
	}
	t->real += delta;
	t->charged += charged;
}

/*
 * Returns the task's speed: the latest one if it has been steady for a while, else
 * the average. If speeds change from turn to turn, the product of one task's speed
 * and another's inverse would be too large on average.
 */
static u64 speed(struct tense_entity *t, u64 delta, u64 charged)
{
	u64 latest;

	t->part_real += delta;
	t->part_charged += charged;
	if (t->part_real >= LONG_ENOUGH) {
		latest = div64_u64(t->part_real << FRACTION, t->part_charged);
		if (!alike(t->latest, latest))
			t->steady = 0;
		t->latest = latest;
		t->part_real = 0;
		t->part_charged = 0;
	}
	t->steady = min(t->steady + delta, STEADY);
	if (t->steady == STEADY) {
		t->real = 0;
		t->charged = 0;
		return t->latest;
	}
	remember(t, delta, charged);
	return div64_u64(t->real << FRACTION, t->charged);
}

static void reweigh(struct tense_ledger *s, struct tense_entity *t, u64 weight)
{
	if (t->weight == weight)
		return;
	subtract(s, t);
	s->ahead -= lead(s, t);
	t->weight = weight;
	s->ahead += lead(s, t);
	add(s, t->weight, t->fast);
}

static void set_fast(struct tense_ledger *s, struct tense_entity *t, u64 fast)
{
	subtract(s, t);
	t->fast = fast;
	add(s, t->weight, t->fast);
}

/**
 * tense_ledger_respeed() - learn a task's speed from a turn
 * @s: the ledger of the task's queue
 * @t: the task
 * @delta: real ns that it ran
 * @charged: virtual ns charged for them. Time that is not charged has no speed.
 */
void tense_ledger_respeed(struct tense_ledger *s, struct tense_entity *t,
			  u64 delta, u64 charged)
{
	if (charged)
		set_fast(s, t, speed(t, delta, charged));
}

/* Stretches a turn by the factor of all entities. */
static u64 scaled(const struct tense_ledger *s, u64 delta, u64 charged)
{
	/* Time that is not charged takes as much of the CPU from others. */
	if (tense_entities(s) == 1 || !charged)
		return delta;
	return mul_u64_u64_div_u64(charged, s->fast, s->weight << FRACTION);
}

static s64 vruntime(const struct tense_entity *t, s64 ns)
{
	return t->weight == NICE_0 ? ns : div64_s64(ns * NICE_0, t->weight);
}

/*
 * The turn counts as @share ns, not as the @ran ns that it took. The task's next
 * wait is longer by the difference. A task that has waited so long has paid.
 */
static void stretch(struct tense_ledger *s, struct tense_entity *t, u64 share,
		    u64 ran)
{
	s64 waits = max_t(s64, t->vruntime - s->reached, 0);
	s64 longer = min_t(s64, t->stretch, waits);

	longer += vruntime(t, (s64)share - (s64)ran);
	t->stretch = max(longer, 0LL);
	t->vruntime += vruntime(t, share);
}

/* Sum of the entities' own leads; of some of them if they are many. */
static s64 leads(const struct tense_ledger *s)
{
	const struct tense_entity *t;
	unsigned int n = LEADS_MAX;
	s64 sum = 0;

	for (t = s->first; t && n; t = t->next, n--)
		sum += lead(s, t);
	return sum;
}

/*
 * At steady speeds, no turn counts less than the task's part of the weight. Speeds
 * that change may have made the turns too short altogether, or too long. Then this
 * turn counts in full, or at most by half.
 */
static u64 balance(const struct tense_ledger *s, const struct tense_entity *t,
		   u64 share, u64 ran)
{
	s64 slack = SLACK * (s64)s->weight;

	share = max(share, div64_u64(ran * t->weight, s->weight));
	if (s->ahead > slack && s->ahead - leads(s) > slack)
		return max(share, ran);
	if (s->ahead < -slack)
		return min(share, ran / 2);
	return share;
}

/**
 * tense_ledger_turn() - how much of an entity's turn is over
 * @t: the task or group
 * @running: how many tasks and groups take turns in the queue
 * @delta: real ns that it ran
 * @charged: virtual ns charged for them
 * @jump: virtual ns that count as if it had run them besides
 *
 * Return: ns of run time that use up as much of a turn outside of the experiment.
 */
u64 tense_ledger_turn(struct tense_entity *t, unsigned int running, u64 delta,
		      u64 charged, u64 jump)
{
	struct tense_ledger *s = tense_ledger_of(t);
	u64 ran = min(delta + jump, TENSE_SHARE_MAX);
	u64 share;

	/*
	 * Alone in the queue, the experiment takes nothing from others and lacks
	 * nothing.
	 */
	if (tense_entities(s) >= running) {
		share = min(charged + jump, TENSE_SHARE_MAX);
		ran = share;
		s->ahead = max(s->ahead, 0LL);
	} else {
		share = min(scaled(s, delta, charged) + jump, TENSE_SHARE_MAX);
		if (tense_entities(s) > 1)
			share = balance(s, t, share, ran);
	}
	s->ahead += NICE_0 * ran;
	stretch(s, t, share, ran);
	return share;
}

/**
 * tense_ledger_move_to() - note a task's place before its turn counts
 * @t: the task, in a queue
 * @place: its place there
 */
void tense_ledger_move_to(struct tense_entity *t,
			  const struct tense_place *place)
{
	struct tense_ledger *s = tense_ledger_of(t);

	advance(s, place->min_vruntime);
	t->vruntime = place->vruntime;
	reweigh(s, t, place->weight);
}

/*
 * The group's vruntime may be later than expected: the group also ran tasks outside
 * of the experiment. It may be earlier: the scheduler has still to charge the group
 * for its tasks' turns.
 */
static void pass(struct tense_ledger *s, struct tense_entity *group,
		 u64 vruntime)
{
	if ((s64)(vruntime - group->vruntime) <= 0)
		return;
	s->ahead -= lead(s, group);
	group->vruntime = vruntime;
	s->ahead += lead(s, group);
}

/**
 * tense_ledger_group() - make a queue an entity of the queue above
 * @below: the ledger of the queue, in which only the experiment's tasks wait
 * @in: the experiment's ledgers on that CPU
 * @place: the group's place in the queue above
 *
 * The group's speed is the weighted average of the speeds in it.
 *
 * Return: the ledger of the queue above; NULL if all ledgers are in use.
 */
struct tense_ledger *tense_ledger_group(struct tense_ledger *below,
					struct tense_ledgers *in,
					const struct tense_place *place)
{
	struct tense_entity *group = &below->group;
	struct tense_ledger *s;

	if (group->in) {
		s = tense_ledger_of(group);
		pass(s, group, place->vruntime);
		advance(s, place->min_vruntime);
		reweigh(s, group, place->weight);
	} else {
		s = reach(in, place);
		if (!s)
			return NULL;
		s->groups++;
		put(group, in, s, place);
	}
	set_fast(s, group, div64_u64(below->fast, below->weight));
	return s;
}
