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
 */
#include <linux/math64.h>

#include "tense.h"

#define FRACTION	16	/* bits, of how many times its speed a task runs */
#define LONG_ENOUGH	10000	/* ns that tell at which speed a task ran */
#define STEADY		(8ULL * NSEC_PER_MSEC)	/* that tell at which it goes on */
#define MEMORY		(256ULL * NSEC_PER_MSEC)	/* of speeds that change */
#define ADVANCE		(100LL * NSEC_PER_MSEC)	/* before others are paid for it */
#define PAID_MAX	(2LL * NSEC_PER_SEC)

static void add(struct tense_share *s, u64 weight, u64 fast)
{
	s->weight += weight;
	s->fast += weight * fast;
}

/* What the sums have of a task is what it was when it was added. */
static void subtract(struct tense_share *s, const struct tense_task *t)
{
	s->weight -= t->share_weight;
	s->fast -= t->share_weight * t->share_fast;
}

static struct tense_shares *shares_of(const struct tense_task *t)
{
	return &per_cpu_ptr(t->exp->cpu, t->share_cpu)->shares;
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
		if (!s->tasks && (!unused || !s->queue))
			unused = s;
	}
	return unused;
}

/**
 * tense_share_init() - a task that never ran
 * @t: the task
 * @parent: whose percent it has, or NULL
 */
void tense_share_init(struct tense_task *t, const struct tense_task *parent)
{
	t->share_cpu = -1;
	t->share_fast = parent ? parent->share_fast : 1 << FRACTION;
	t->share_latest = t->share_fast;
}

/**
 * tense_share_enter() - a task waits for its turn in a queue
 * @t: the task, in no queue so far
 * @cpu: whose queue it is
 * @place: its place there
 *
 * The CPU's runqueue is locked, as for all of these. Of an experiment that is in
 * more queues of a CPU than there are sums for, the tasks in the others have
 * shares as if they were alone.
 */
void tense_share_enter(struct tense_task *t, int cpu,
		       const struct tense_place *place)
{
	struct tense_shares *all = &per_cpu_ptr(t->exp->cpu, cpu)->shares;
	struct tense_share *s;

	lockdep_assert_irqs_disabled();

	tense_share_leave(t);
	if (!place->queue)
		return;
	s = find(all, place->queue);
	if (!s)
		return;
	if (s->queue != place->queue) {
		s->queue = place->queue;
		s->paid = 0;
	}
	if (!s->tasks++)
		all->used++;
	t->share_cpu = cpu;
	t->share_queue = s - all->queue;
	t->share_weight = place->weight;
	add(s, t->share_weight, t->share_fast);
}

/**
 * tense_share_leave() - a task is in no queue any more
 * @t: the task, which may have been in none
 */
void tense_share_leave(struct tense_task *t)
{
	struct tense_shares *all;
	struct tense_share *s;

	lockdep_assert_irqs_disabled();

	if (t->share_cpu < 0)
		return;
	all = shares_of(t);
	s = &all->queue[t->share_queue];
	if (!--s->tasks)
		all->used--;
	subtract(s, t);
	t->share_cpu = -1;
}

static bool alike(u64 a, u64 b)
{
	return max(a, b) - min(a, b) <= a >> 4;
}

static void remember(struct tense_task *t, u64 delta, u64 charged)
{
	if (t->share_real > MEMORY) {
		t->share_real /= 2;
		t->share_charged /= 2;
	}
	t->share_real += delta;
	t->share_charged += charged;
}

/*
 * How fast it is: as just now, if it has been that for a while, or else as it was
 * on the average. Of speeds that change from turn to turn, products of one task's
 * with the inverse of another's would be too large.
 */
static u64 speed(struct tense_task *t, u64 delta, u64 charged)
{
	u64 latest;

	if (delta >= LONG_ENOUGH) {
		latest = div64_u64(delta << FRACTION, charged);
		if (!alike(t->share_latest, latest))
			t->share_steady = 0;
		t->share_latest = latest;
	}
	t->share_steady = min(t->share_steady + delta, STEADY);
	if (t->share_steady == STEADY) {
		t->share_real = 0;
		t->share_charged = 0;
		return t->share_latest;
	}
	remember(t, delta, charged);
	return div64_u64(t->share_real << FRACTION, t->share_charged);
}

static void update(struct tense_share *s, struct tense_task *t, u64 weight,
		   u64 delta, u64 charged)
{
	subtract(s, t);
	t->share_weight = weight;
	/* What is not charged is of no speed. */
	if (charged)
		t->share_fast = speed(t, delta, charged);
	add(s, t->share_weight, t->share_fast);
}

/**
 * tense_share_in() - how much of a turn in a queue is over
 * @s: of the experiment's tasks in it
 * @running: how many tasks and groups share it
 * @delta: real ns that one of these tasks ran
 * @charged: virtual ns that this made
 *
 * Return: as many ns as a task outside would have run.
 */
u64 tense_share_in(const struct tense_share *s, unsigned int running, u64 delta,
		   u64 charged)
{
	if (s->tasks >= running)
		return charged;
	/* What is not charged takes as long from the others. */
	if (s->tasks == 1 || !charged)
		return delta;
	return mul_u64_u64_div_u64(charged, s->fast, s->weight << FRACTION);
}

/*
 * Speeds that change in step with turns make the factor too small: what turns lack
 * beyond an advance is added to them. What they are too long is not to be had
 * back by the same means later.
 */
static u64 pay(struct tense_share *s, u64 delta, u64 share)
{
	s64 lacks;

	s->paid += (s64)min_t(u64, share, PAID_MAX) - (s64)delta;
	lacks = max(-ADVANCE - s->paid, 0LL);
	s->paid = min(s->paid + lacks, PAID_MAX);
	return share + lacks;
}

/* Who has the queue alone takes nothing from anybody. */
static u64 share_of(struct tense_shares *all, struct tense_share *s,
		    unsigned int running, u64 delta, u64 charged, u64 jump)
{
	u64 share;

	if (all->used > 1)
		share = tense_share_groups(all, s, delta, charged, jump);
	else
		share = tense_share_in(s, running, delta, charged) + jump;
	return s->tasks < running ? pay(s, delta, share) : share;
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
u64 tense_share(struct tense_task *t, const struct tense_place *place,
		u64 delta, u64 charged, u64 jump)
{
	struct tense_shares *all;
	struct tense_share *s;

	lockdep_assert_irqs_disabled();

	if (t->share_cpu < 0)
		return (place->running > 1 ? delta : charged) + jump;
	all = shares_of(t);
	s = &all->queue[t->share_queue];
	/* Of one task the factor is 1, whatever its speed. */
	if (s->tasks > 1 || all->used > 1)
		update(s, t, place->weight, delta, charged);
	return share_of(all, s, place->running, delta, charged, jump);
}
