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

static void add(struct tense_ledger *ledger, u64 weight, u64 fast)
{
	ledger->weight += weight;
	ledger->fast += weight * fast;
}

/* The sums contain the old values: call this before changing weight or fast. */
static void subtract(struct tense_ledger *ledger, const struct tense_entity *e)
{
	ledger->weight -= e->weight;
	ledger->fast -= e->weight * e->fast;
}

/*
 * Returns the ledger of a queue, in use or left from before, else an unused one,
 * rather one that is new. NULL if all TENSE_QUEUES are in use.
 */
static struct tense_ledger *find(struct tense_ledgers *all, const void *queue)
{
	struct tense_ledger *ledger, *unused = NULL;

	for (ledger = all->queue; ledger < all->queue + TENSE_QUEUES; ledger++) {
		if (ledger->queue == queue)
			return ledger;
		/* Prefers a ledger that no queue has used yet. */
		if (!tense_entities(ledger) &&
		    (!unused || (unused->queue && !ledger->queue)))
			unused = ledger;
	}
	return unused;
}

/* While one task had the queue for itself, as much passed in the queue as it ran. */
static void end_alone(struct tense_ledger *ledger)
{
	struct tense_entity *e = ledger->first;

	if (!e || !e->alone)
		return;
	ledger->reached += e->vruntime - e->alone_from;
	e->alone = false;
}

/*
 * Counts the experiment's part of the vruntime that passed in the queue. Without
 * entities the part is nothing, and min_vruntime may be that of another queue at
 * the same address.
 */
static void advance(struct tense_ledger *ledger, u64 min_vruntime)
{
	s64 passed;

	end_alone(ledger);
	passed = min_vruntime - ledger->reached;

	if (tense_entities(ledger) && passed <= 0)
		return;
	ledger->reached = min_vruntime;
	/* Limited, so that the product with a weight of thousands does not overflow. */
	passed = min(passed, 2 * CREDIT);
	ledger->ahead = max_t(s64, ledger->ahead - ledger->weight * passed,
			      -CREDIT * (s64)ledger->weight);
}

/* The lead of the task itself, as it would have it at percent 100. */
static s64 lead(const struct tense_ledger *ledger, const struct tense_entity *e)
{
	s64 waits = e->vruntime - ledger->reached;

	if (waits > 0)
		waits = max_t(s64, waits - e->stretch, 0);
	return waits * (s64)e->weight;
}

/* Returns the ledger of the queue at @place; NULL if all ledgers are in use. */
static struct tense_ledger *reach(struct tense_ledgers *in,
				  const struct tense_place *place)
{
	struct tense_ledger *ledger = find(in, place->queue);

	if (!ledger)
		return NULL;
	if (ledger->queue != place->queue) {
		ledger->all = in;
		ledger->queue = place->queue;
		ledger->ahead = 0;
		ledger->group.stretch = 0;
	}
	advance(ledger, place->min_vruntime);
	return ledger;
}

static void link(struct tense_ledger *ledger, struct tense_entity *e)
{
	e->next = ledger->first;
	e->link = &ledger->first;
	if (e->next)
		e->next->link = &e->next;
	ledger->first = e;
}

static void unlink(struct tense_entity *e)
{
	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
}

static void put(struct tense_entity *e, struct tense_ledger *ledger,
		const struct tense_place *place)
{
	e->ledger = ledger;
	e->weight = place->weight;
	e->vruntime = place->vruntime;
	link(ledger, e);
	add(ledger, e->weight, e->fast);
	ledger->ahead += lead(ledger, e);
}

/*
 * Removes an entity. Its own lead leaves with it. The lead that its stretched turns
 * gave to the others stays.
 */
static struct tense_ledger *take(struct tense_entity *e)
{
	struct tense_ledger *ledger = e->ledger;

	end_alone(ledger);
	ledger->ahead -= lead(ledger, e);
	subtract(ledger, e);
	unlink(e);
	e->ledger = NULL;
	return ledger;
}

/**
 * tense_entity_init() - initialise a task that never ran
 * @e: the task
 * @parent: the task whose percent it inherits, or NULL
 */
void tense_entity_init(struct tense_entity *e, const struct tense_entity *parent)
{
	e->ledger = NULL;
	e->alone = false;
	e->fast = parent ? parent->fast : 1 << FRACTION;
	e->latest = e->fast;
	e->stretch = 0;
}

/**
 * tense_ledger_enter() - a task waits for its turn in a queue
 * @e: the task
 * @in: the experiment's ledgers on that CPU
 * @place: its place there
 *
 * An experiment may be in more queues of a CPU than there are ledgers. Tasks in
 * the further queues have shares as if they were alone.
 */
void tense_ledger_enter(struct tense_entity *e, struct tense_ledgers *in,
			const struct tense_place *place)
{
	struct tense_ledger *ledger;

	lockdep_assert_irqs_disabled();

	tense_ledger_leave(e);
	if (!place->queue)
		return;
	ledger = reach(in, place);
	if (!ledger)
		return;
	if (!ledger->tasks++)
		in->used++;
	put(e, ledger, place);
}

/**
 * tense_ledger_no_group() - a queue is no longer an entity of the queue above
 * @below: the ledger of the queue, in which others wait, too
 */
void tense_ledger_no_group(struct tense_ledger *below)
{
	while (below->group.ledger) {
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
	struct tense_ledger *ledger;

	for (ledger = all->queue; ledger < all->queue + TENSE_QUEUES; ledger++)
		tense_ledger_no_group(ledger);
}

/**
 * tense_ledger_leave() - a task leaves its queue
 * @e: the task, which may be in none
 */
void tense_ledger_leave(struct tense_entity *e)
{
	struct tense_ledger *ledger;

	lockdep_assert_irqs_disabled();

	if (!e->ledger)
		return;
	ledger = take(e);
	if (--ledger->tasks)
		return;
	if (!ledger->groups)
		tense_ledger_no_group(ledger);
	if (--ledger->all->used == 1)
		tense_ledger_no_groups(ledger->all);
}

static bool alike(u64 a, u64 b)
{
	return max(a, b) - min(a, b) <= a >> 4;
}

static void remember(struct tense_entity *e, u64 delta, u64 charged)
{
	if (e->real > MEMORY) {
		e->real /= 2;
		e->charged /= 2;
	}
	e->real += delta;
	e->charged += charged;
}

/*
 * Returns the task's speed: the latest one if it has been steady for a while, else
 * the average. If speeds change from turn to turn, the product of one task's speed
 * and another's inverse would be too large on average.
 */
static u64 speed(struct tense_entity *e, u64 delta, u64 charged)
{
	u64 latest;

	e->part_real += delta;
	e->part_charged += charged;
	if (e->part_real >= LONG_ENOUGH) {
		latest = div64_u64(e->part_real << FRACTION, e->part_charged);
		if (!alike(e->latest, latest))
			e->steady = 0;
		e->latest = latest;
		e->part_real = 0;
		e->part_charged = 0;
	}
	e->steady = min(e->steady + delta, STEADY);
	if (e->steady == STEADY) {
		e->real = 0;
		e->charged = 0;
		return e->latest;
	}
	remember(e, delta, charged);
	return div64_u64(e->real << FRACTION, e->charged);
}

static void reweigh(struct tense_ledger *ledger, struct tense_entity *e, u64 weight)
{
	if (e->weight == weight)
		return;
	subtract(ledger, e);
	ledger->ahead -= lead(ledger, e);
	e->weight = weight;
	ledger->ahead += lead(ledger, e);
	add(ledger, e->weight, e->fast);
}

static void set_fast(struct tense_ledger *ledger, struct tense_entity *e, u64 fast)
{
	subtract(ledger, e);
	e->fast = fast;
	add(ledger, e->weight, e->fast);
}

/**
 * tense_ledger_respeed() - learn a task's speed from a turn
 * @ledger: the ledger of the task's queue
 * @e: the task
 * @delta: real ns that it ran
 * @charged: virtual ns charged for them. Time that is not charged has no speed.
 */
void tense_ledger_respeed(struct tense_ledger *ledger, struct tense_entity *e,
			  u64 delta, u64 charged)
{
	if (charged)
		set_fast(ledger, e, speed(e, delta, charged));
}

/* Stretches a turn by the factor of all entities. */
static u64 scaled(const struct tense_ledger *ledger, u64 delta, u64 charged)
{
	/* Time that is not charged takes as much of the CPU from others. */
	if (tense_entities(ledger) == 1 || !charged)
		return delta;
	return mul_u64_u64_div_u64(charged, ledger->fast, ledger->weight << FRACTION);
}

static inline s64 vruntime(const struct tense_entity *e, s64 ns)
{
	return e->weight == NICE_0 ? ns : div64_s64(ns * NICE_0, e->weight);
}

/* The part of its stretch for which the task has still to wait. */
static s64 stretch_left(const struct tense_ledger *ledger,
			const struct tense_entity *e)
{
	return min_t(s64, e->stretch, max_t(s64, e->vruntime - ledger->reached, 0));
}

/*
 * The turn counts as @share ns, not as the @ran ns that it took. The task's next
 * wait is longer by the difference. A task that has waited so long has paid.
 */
static void stretch(struct tense_ledger *ledger, struct tense_entity *e, u64 share,
		    u64 ran)
{
	s64 longer = stretch_left(ledger, e) + vruntime(e, (s64)share - (s64)ran);

	e->stretch = max(longer, 0LL);
}

/* Sum of the entities' own leads; of some of them if they are many. */
static s64 leads(const struct tense_ledger *ledger)
{
	const struct tense_entity *e;
	unsigned int n = LEADS_MAX;
	s64 sum = 0;

	for (e = ledger->first; e && n; e = e->next, n--)
		sum += lead(ledger, e);
	return sum;
}

/*
 * At steady speeds, no turn counts less than the task's part of the weight. Speeds
 * that change may have made the turns too short altogether, or too long. Then this
 * turn counts in full, or at most by half.
 */
static u64 balance(const struct tense_ledger *ledger, const struct tense_entity *e,
		   u64 share, u64 ran)
{
	s64 slack = SLACK * (s64)ledger->weight;

	share = max(share, div64_u64(ran * e->weight, ledger->weight));
	if (ledger->ahead > slack && ledger->ahead - leads(ledger) > slack)
		return max(share, ran);
	if (ledger->ahead < -slack)
		return min(share, ran / 2);
	return share;
}

/* From here on the task is alone, until anything else happens in its queue. */
static void begin_alone(struct tense_ledger *ledger, struct tense_entity *e)
{
	if (ledger->tasks > 1 || ledger->groups || e->weight != NICE_0 ||
	    e->stretch)
		return;
	ledger->ahead = max(ledger->ahead, lead(ledger, e));
	e->alone_from = e->vruntime;
	e->alone = true;
}

/* Alone in the queue, the experiment takes nothing from others and lacks nothing. */
static u64 turn_alone(struct tense_ledger *ledger, struct tense_entity *e,
		      u64 virtual_ns)
{
	u64 share = min(virtual_ns, TENSE_SHARE_MAX);

	ledger->ahead = max(ledger->ahead, 0LL) + NICE_0 * share;
	if (e->stretch)
		e->stretch = stretch_left(ledger, e);
	e->vruntime += vruntime(e, share);
	begin_alone(ledger, e);
	return share;
}

static u64 turn_beside_others(struct tense_ledger *ledger, struct tense_entity *e,
			      u64 delta, u64 charged, u64 jump)
{
	u64 ran = min(delta + jump, TENSE_SHARE_MAX);
	u64 share = min(scaled(ledger, delta, charged) + jump, TENSE_SHARE_MAX);

	if (tense_entities(ledger) > 1)
		share = balance(ledger, e, share, ran);
	ledger->ahead += NICE_0 * ran;
	stretch(ledger, e, share, ran);
	e->vruntime += vruntime(e, share);
	return share;
}

static inline u64 turn(struct tense_ledger *ledger, struct tense_entity *e,
		       unsigned int running, u64 delta, u64 charged, u64 jump)
{
	if (tense_entities(ledger) >= running)
		return turn_alone(ledger, e, charged + jump);
	return turn_beside_others(ledger, e, delta, charged, jump);
}

/**
 * tense_ledger_turn() - how much of an entity's turn is over
 * @e: the task or group
 * @running: how many tasks and groups take turns in the queue
 * @delta: real ns that it ran
 * @charged: virtual ns charged for them
 * @jump: virtual ns that count as if it had run them besides
 *
 * Return: ns of run time that use up as much of a turn outside of the experiment.
 */
u64 tense_ledger_turn(struct tense_entity *e, unsigned int running, u64 delta,
		      u64 charged, u64 jump)
{
	return turn(e->ledger, e, running, delta, charged, jump);
}

/**
 * tense_ledger_move_to() - note a task's place before its turn counts
 * @e: the task, in a queue
 * @place: its place there
 */
void tense_ledger_move_to(struct tense_entity *e,
			  const struct tense_place *place)
{
	struct tense_ledger *ledger = e->ledger;

	/* A task that is in no queue leaves its ledger first: never divide by no weight. */
	if (!place->queue)
		return;
	advance(ledger, place->min_vruntime);
	if (e->weight == place->weight) {
		e->vruntime = place->vruntime;
		return;
	}
	/*
	 * If the weight changes, EEVDF scales inversely how far the task is ahead, and
	 * the stretch is a part of that.
	 */
	subtract(ledger, e);
	ledger->ahead -= lead(ledger, e);
	e->stretch = div64_u64(e->stretch * e->weight, place->weight);
	e->vruntime = place->vruntime;
	e->weight = place->weight;
	ledger->ahead += lead(ledger, e);
	add(ledger, e->weight, e->fast);
}

/*
 * Whether the task is the only one of the experiment in its queue, has the usual
 * weight and tasks of others beside it, and has run for all of its vruntime.
 */
static bool is_sole(const struct tense_ledger *ledger,
		    const struct tense_entity *e, const struct tense_place *place)
{
	return place->running > 1 && ledger->tasks == 1 && !ledger->groups &&
	       e->weight == NICE_0 && place->weight == NICE_0 && !e->stretch;
}

/* The same as tense_ledger_turn(): for a single task the factor is 1. */
static u64 turn_sole(struct tense_ledger *ledger, struct tense_entity *e,
		     const struct tense_place *place, u64 ran)
{
	u64 share = min(ran, TENSE_SHARE_MAX);

	advance(ledger, place->min_vruntime);
	ledger->ahead += NICE_0 * share;
	e->vruntime = place->vruntime + share;
	return share;
}

/*
 * tense_ledger_charge() for an experiment in one queue of the CPU. Nearly all charges
 * that do not go the short way come here.
 */
u64 tense_ledger_charge_in_queue(struct tense_entity *e,
				 const struct tense_place *place,
				 u64 delta, u64 charged, u64 jump)
{
	struct tense_ledger *ledger = e->ledger;

	lockdep_assert_irqs_disabled();

	if (!ledger)
		return min((place->running > 1 ? delta : charged) + jump,
			   TENSE_SHARE_MAX);
	if (is_sole(ledger, e, place))
		return turn_sole(ledger, e, place, delta + jump);
	tense_ledger_move_to(e, place);
	if (ledger->tasks > 1)
		tense_ledger_respeed(ledger, e, delta, charged);
	return turn(ledger, e, place->running, delta, charged, jump);
}

/*
 * The group's vruntime may be later than expected: the group also ran tasks outside
 * of the experiment. It may be earlier: the scheduler has still to charge the group
 * for its tasks' turns.
 */
static void pass(struct tense_ledger *ledger, struct tense_entity *group,
		 u64 vruntime)
{
	if ((s64)(vruntime - group->vruntime) <= 0)
		return;
	ledger->ahead -= lead(ledger, group);
	group->vruntime = vruntime;
	ledger->ahead += lead(ledger, group);
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
	struct tense_ledger *ledger;

	if (group->ledger) {
		ledger = group->ledger;
		pass(ledger, group, place->vruntime);
		advance(ledger, place->min_vruntime);
		reweigh(ledger, group, place->weight);
	} else {
		ledger = reach(in, place);
		if (!ledger)
			return NULL;
		ledger->groups++;
		put(group, ledger, place);
	}
	set_fast(ledger, group, div64_u64(below->fast, below->weight));
	return ledger;
}
