// SPDX-License-Identifier: GPL-2.0
/*
 * R12: an experiment's share of a CPU is not its percents'. Whoever is imagined
 * faster gets more of the CPU, as if less had passed for it; where others wait in
 * the same queue, that is not to be at their cost. There, what passes for each of
 * the experiment's tasks is stretched by one factor, by which all of them together
 * get what they would at percent 100.
 *
 * A task of weight w that runs at p times its speed gets a share of w * p, so that
 * the factor is sum(w * p) / sum(w). Where nobody else waits it is 1: slices,
 * preemption and credits are then the imagined program's (R8).
 *
 * That holds of speeds that stay. Whatever the percents do, the tasks are never
 * ahead by more than SLACK each: what they ran is compared to what the queue's
 * min_vruntime says that was theirs, and who is too far ahead pays in full.
 */
#ifdef __KERNEL__
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#endif

#include "share.h"

#define FRACTION	16	/* bits, of how many times its speed a task runs */
#define LONG_ENOUGH	10000	/* ns that tell at which speed a task ran */
#define STEADY		8000000ULL	/* ns that tell at which it goes on */
#define MEMORY		256000000ULL	/* ns of speeds that change */
#define NICE_0		1024	/* the weight whose vruntime is in ns */
/* For each of the tasks, ns of vruntime, */
#define SLACK		20000000LL	/* as turns of two ticks have it ahead */
#define LEADS_MAX	8	/* of them are looked at, as that takes time */
#define CREDIT		1000000000LL	/* that it may lack and get later */

static void add(struct tense_share *s, u64 weight, u64 fast)
{
	s->weight += weight;
	s->fast += weight * fast;
}

/* What the sums have of a task is what it was when it was added. */
static void subtract(struct tense_share *s, const struct tense_sharer *t)
{
	s->weight -= t->weight;
	s->fast -= t->weight * t->fast;
}

/*
 * The sums of a queue, or unused ones, if possible its last; NULL if it is one
 * queue too many.
 */
static struct tense_share *find(struct tense_shares *all, const void *queue)
{
	struct tense_share *s, *unused = NULL;

	for (s = all->queue; s < all->queue + TENSE_QUEUES; s++) {
		if (s->queue == queue)
			return s;
		if (!tense_sharers(s) && (!unused || !s->queue))
			unused = s;
	}
	return unused;
}

/*
 * What is theirs of what the queue gave meanwhile. Where none of them was, it is
 * nothing, and min_vruntime may be that of another queue at the same address.
 */
static void advance(struct tense_share *s, u64 min_vruntime)
{
	s64 passed = min_vruntime - s->reached;

	if (tense_sharers(s) && passed <= 0)
		return;
	s->reached = min_vruntime;
	/* Times the weight of thousands, a leap is not to overflow. */
	passed = min(passed, 2 * CREDIT);
	s->ahead = max_t(s64, s->ahead - s->weight * passed,
			 -CREDIT * (s64)s->weight);
}

/* By how much a task is ahead by itself, as it would be at percent 100. */
static s64 lead(const struct tense_share *s, const struct tense_sharer *t)
{
	s64 waits = t->vruntime - s->reached;

	if (waits > 0)
		waits = max_t(s64, waits - t->stretch, 0);
	return waits * (s64)t->weight;
}

/* The sums of the queue where it waits; NULL if it is one queue too many. */
static struct tense_share *reach(struct tense_shares *in,
				 const struct tense_place *place)
{
	struct tense_share *s = find(in, place->queue);

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

static void link(struct tense_share *s, struct tense_sharer *t)
{
	t->next = s->first;
	t->link = &s->first;
	if (t->next)
		t->next->link = &t->next;
	s->first = t;
}

static void unlink(struct tense_sharer *t)
{
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
}

static void put(struct tense_sharer *t, struct tense_shares *in,
		struct tense_share *s, const struct tense_place *place)
{
	t->in = in;
	t->queue = s - in->queue;
	t->weight = place->weight;
	t->vruntime = place->vruntime;
	link(s, t);
	add(s, t->weight, t->fast);
	s->ahead += lead(s, t);
}

static struct tense_share *queue_of(const struct tense_sharer *t)
{
	return &t->in->queue[t->queue];
}

/*
 * What it is ahead by itself goes with it. What others of the experiment were
 * ahead by how it stretched its turns does not.
 */
static struct tense_share *take(struct tense_sharer *t)
{
	struct tense_share *s = queue_of(t);

	s->ahead -= lead(s, t);
	subtract(s, t);
	unlink(t);
	t->in = NULL;
	return s;
}

/**
 * tense_share_init() - a task that never ran
 * @t: the task
 * @parent: whose percent it has, or NULL
 */
void tense_share_init(struct tense_sharer *t, const struct tense_sharer *parent)
{
	t->in = NULL;
	t->fast = parent ? parent->fast : 1 << FRACTION;
	t->latest = t->fast;
	t->stretch = 0;
}

/**
 * tense_share_enter() - a task waits for its turn in a queue
 * @t: the task, in no queue so far
 * @in: the experiment's queues of that CPU
 * @place: its place there
 *
 * Of an experiment that is in more queues of a CPU than there are sums for, the
 * tasks in the others have shares as if they were alone.
 */
void tense_share_enter(struct tense_sharer *t, struct tense_shares *in,
		       const struct tense_place *place)
{
	struct tense_share *s;

	lockdep_assert_irqs_disabled();

	tense_share_leave(t);
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
 * tense_share_no_group() - what is below a queue is not the experiment's alone
 * @below: of the experiment's in that queue
 */
void tense_share_no_group(struct tense_share *below)
{
	while (below->group.in) {
		below = take(&below->group);
		below->groups--;
		if (tense_sharers(below))
			break;
	}
}

/**
 * tense_share_no_groups() - nothing is to be handed on from queue to queue
 * @all: of the experiment's on a CPU
 */
void tense_share_no_groups(struct tense_shares *all)
{
	struct tense_share *s;

	for (s = all->queue; s < all->queue + TENSE_QUEUES; s++)
		tense_share_no_group(s);
}

/**
 * tense_share_leave() - a task is in no queue any more
 * @t: the task, which may have been in none
 */
void tense_share_leave(struct tense_sharer *t)
{
	struct tense_shares *all = t->in;
	struct tense_share *s;

	lockdep_assert_irqs_disabled();

	if (!all)
		return;
	s = take(t);
	if (--s->tasks)
		return;
	if (!s->groups)
		tense_share_no_group(s);
	if (--all->used == 1)
		tense_share_no_groups(all);
}

static bool alike(u64 a, u64 b)
{
	return max(a, b) - min(a, b) <= a >> 4;
}

static void remember(struct tense_sharer *t, u64 delta, u64 charged)
{
	if (t->real > MEMORY) {
		t->real /= 2;
		t->charged /= 2;
	}
	t->real += delta;
	t->charged += charged;
}

/*
 * How fast it is: as just now, if it has been that for a while, or else as it was
 * on the average. Of speeds that change from turn to turn, products of one task's
 * with the inverse of another's would be too large.
 */
static u64 speed(struct tense_sharer *t, u64 delta, u64 charged)
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

static void reweigh(struct tense_share *s, struct tense_sharer *t, u64 weight)
{
	if (t->weight == weight)
		return;
	subtract(s, t);
	s->ahead -= lead(s, t);
	t->weight = weight;
	s->ahead += lead(s, t);
	add(s, t->weight, t->fast);
}

static void set_fast(struct tense_share *s, struct tense_sharer *t, u64 fast)
{
	subtract(s, t);
	t->fast = fast;
	add(s, t->weight, t->fast);
}

/* What is not charged is of no speed. */
static void respeed(struct tense_share *s, struct tense_sharer *t, u64 delta,
		    u64 charged)
{
	if (charged)
		set_fast(s, t, speed(t, delta, charged));
}

/* By the speeds of all. */
static u64 scaled(const struct tense_share *s, u64 delta, u64 charged)
{
	/* What is not charged takes as long from the others. */
	if (tense_sharers(s) == 1 || !charged)
		return delta;
	return mul_u64_u64_div_u64(charged, s->fast, s->weight << FRACTION);
}

static s64 vruntime(const struct tense_sharer *t, s64 ns)
{
	return t->weight == NICE_0 ? ns : div64_s64(ns * NICE_0, t->weight);
}

/*
 * By this its turn has another length than what it ran, from where on it waits
 * longer than it would. Who has waited for that has paid.
 */
static void stretch(struct tense_share *s, struct tense_sharer *t, u64 share, u64 ran)
{
	s64 waits = max_t(s64, t->vruntime - s->reached, 0);
	s64 longer = min_t(s64, t->stretch, waits);

	longer += vruntime(t, (s64)share - (s64)ran);
	t->stretch = max(longer, 0LL);
	t->vruntime += vruntime(t, share);
}

/* What they are ahead each by itself, or some of it if they are many. */
static s64 leads(const struct tense_share *s)
{
	const struct tense_sharer *t;
	unsigned int n = LEADS_MAX;
	s64 sum = 0;

	for (t = s->first; t && n; t = t->next, n--)
		sum += lead(s, t);
	return sum;
}

/*
 * Speeds that stay make no turn shorter than the task's part in the weight. Where
 * speeds changed so that turns were too short on the whole, or too long, this one
 * is to be neither.
 */
static u64 balance(const struct tense_share *s, const struct tense_sharer *t,
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
 * tense_share_turn() - how much of a turn in a queue is over
 * @t: whose
 * @running: how many tasks and groups share the queue
 * @delta: real ns that it ran
 * @charged: virtual ns that this made
 * @jump: virtual ns that it is to have run besides
 *
 * Return: as many ns as a task outside would have run.
 */
u64 tense_share_turn(struct tense_sharer *t, unsigned int running, u64 delta,
		     u64 charged, u64 jump)
{
	struct tense_share *s = queue_of(t);
	u64 ran = min(delta + jump, TENSE_SHARE_MAX);
	u64 share;

	/* Who has the queue alone takes nothing from anybody, and lacks nothing. */
	if (tense_sharers(s) >= running) {
		share = min(charged + jump, TENSE_SHARE_MAX);
		ran = share;
		s->ahead = max(s->ahead, 0LL);
	} else {
		share = min(scaled(s, delta, charged) + jump, TENSE_SHARE_MAX);
		if (tense_sharers(s) > 1)
			share = balance(s, t, share, ran);
	}
	s->ahead += NICE_0 * ran;
	stretch(s, t, share, ran);
	return share;
}

static void move_to(struct tense_sharer *t, const struct tense_place *place)
{
	struct tense_share *s = queue_of(t);

	advance(s, place->min_vruntime);
	t->vruntime = place->vruntime;
	reweigh(s, t, place->weight);
}

/**
 * tense_share() - how much of a task's turn is over
 * @t: the task
 * @place: where it waits when its turn is over
 * @delta: real ns that it ran
 * @charged: virtual ns that this made
 * @jump: virtual ns that it is to have run besides
 *
 * Return: as many ns as a task outside would have run.
 */
u64 tense_share(struct tense_sharer *t, const struct tense_place *place,
		u64 delta, u64 charged, u64 jump)
{
	struct tense_share *s;

	lockdep_assert_irqs_disabled();

	if (!t->in)
		return (place->running > 1 ? delta : charged) + jump;
	s = queue_of(t);
	move_to(t, place);
	/* Of one task the factor is 1, whatever its speed. */
	if (s->tasks > 1 || t->in->used > 1)
		respeed(s, t, delta, charged);
	if (t->in->used > 1)
		tense_share_groups(t->in, s, delta, charged, jump);
	return tense_share_turn(t, place->running, delta, charged, jump);
}

/*
 * A group may have run what is not the experiment's meanwhile. It may also have
 * still to be charged what its tasks were.
 */
static void pass(struct tense_share *s, struct tense_sharer *group, u64 vruntime)
{
	if ((s64)(vruntime - group->vruntime) <= 0)
		return;
	s->ahead -= lead(s, group);
	group->vruntime = vruntime;
	s->ahead += lead(s, group);
}

/**
 * tense_share_group() - all that is below a queue is the experiment's
 * @below: of the experiment's in that queue
 * @in: the experiment's queues of that CPU
 * @place: the group's place in the queue above
 *
 * The group runs as many times its speed as those in it do together.
 *
 * Return: of those in the queue above; NULL if it is one queue too many.
 */
struct tense_share *tense_share_group(struct tense_share *below,
				      struct tense_shares *in,
				      const struct tense_place *place)
{
	struct tense_sharer *group = &below->group;
	struct tense_share *s;

	if (group->in) {
		s = queue_of(group);
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
