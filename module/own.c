// SPDX-License-Identifier: GPL-2.0
/*
 * R13: what Tense itself costs a task is not charged to it. The time in the
 * module is known; that of getting there and back is learnt.
 */
#include "tense.h"

/* Times one right after the other that must be seen before any is refunded. */
#define TIMES_TO_LEARN	16

/*
 * What takes longer is no way but the caller's work, ns: a program that reads the
 * clock at intervals only would have all of that given back. In User-Mode Linux a
 * way is 30 us.
 */
#define WAY_MAX		100000

/* Real ns that draining a full ring takes at most, unless a host stands still. */
#define DRAIN_MAX	((u64)NSEC_PER_MSEC)

void tense_own_init(struct tense_experiment *exp)
{
	int i;

	for (i = 0; i < TENSE_WAYS; i++)
		exp->way[i].min = U64_MAX;
}

/*
 * What passes between two pieces of Tense's work is what leaving the one and
 * entering the other costs, if the caller did nothing else in between. That
 * cannot be seen, but the shortest such times can be told from the others. They
 * are real ones: the time of a task may leave out too much of an interrupt.
 */
static void note(struct tense_way *way, u64 between)
{
	if (between > WAY_MAX)
		return;
	if (between < way->min) {
		if (2 * between < way->average)
			way->average = between;
		way->min = between;
	}
	if (between >= 2 * way->min)
		return;
	if (!way->average)
		way->average = between;
	way->average += ((s64)between - (s64)way->average) / 8;
	if (way->alike < TIMES_TO_LEARN)
		way->alike++;
}

/**
 * tense_way_cost() - what a way from Tense's work to Tense's work costs
 * @exp: experiment
 * @way: which one
 *
 * Return: real ns, 0 while unknown.
 */
u64 tense_way_cost(const struct tense_experiment *exp, enum tense_ways way)
{
	const struct tense_way *w = &exp->way[way];

	return w->alike < TIMES_TO_LEARN ? 0 : w->average;
}

static enum tense_ways way_to(enum tense_own own)
{
	switch (own) {
	case TENSE_OWN_ENTRY:
		return TENSE_WAY_OUTSIDE;
	case TENSE_OWN_RETURN:
		return TENSE_WAY_INSIDE;
	default:
		return TENSE_WAY_CALL;
	}
}

static enum tense_ways way_from(enum tense_own own)
{
	switch (own) {
	case TENSE_OWN_ENTRY:
		return TENSE_WAY_INSIDE;
	case TENSE_OWN_RETURN:
		return TENSE_WAY_OUTSIDE;
	default:
		return TENSE_WAY_CALL;
	}
}

/*
 * Can the one piece of Tense's work have come straight after the other? Of calls,
 * only those that read the clock are made in a row: who changes its percent does
 * something in between.
 */
static bool may_follow(enum tense_own left, enum tense_own own)
{
	if (own == TENSE_OWN_READING)
		return left == TENSE_OWN_READING;
	return left != TENSE_OWN_NONE && way_from(left) == way_to(own);
}

/*
 * A way is given back one half at the percent before, the other at the
 * percent after the work that it leads to.
 */
static void refund_half(struct tense_task *t, enum tense_ways way)
{
	lockdep_assert_held(&t->exp->lock);

	tense_refund(t, tense_way_cost(t->exp, way) / 2);
}

/* No task is charged for interrupts if the kernel accounts them apart. */
static bool is_uncharged(void)
{
	return IS_ENABLED(CONFIG_IRQ_TIME_ACCOUNTING) &&
	       (in_hardirq() || in_serving_softirq());
}

/**
 * tense_own_drain() - the module has just drained the task's ring
 * @t: the task, locked
 * @since: the counter when that began
 * @rate: ns per tick of it, times 2^32
 *
 * The tick drains most rings. If no task is charged for the tick, a refund would
 * return time that nobody was charged. The next stretch then begins after the
 * drain instead, and the drain ends the task's turn sooner: a thread that fills its
 * ring pays for that itself (R12).
 */
void tense_own_drain(struct tense_task *t, u64 since, u64 rate)
{
	u64 now = tense_counter();

	lockdep_assert_held(&t->lock);

	if (!is_uncharged()) {
		/* On another CPU, its own goes on meanwhile. */
		t->own = t->task == current ? now - since : 0;
		return;
	}
	tense_area_begin(t, now);
	t->unpaid += min(mul_u64_u64_shr(now - since, rate, 32), DRAIN_MAX);
}

/**
 * tense_charge_stop() - what the running task runs from here on is not charged
 * @t: the calling task, settled just now, locked
 */
void tense_charge_stop(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	/* No time at all is not charged, nor any but in the fair class. */
	tense_area_charge(t, 0);
	t->in_call = true;
}

/**
 * tense_charge_go_on() - and from here on it is again
 * @t: as before
 */
void tense_charge_go_on(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	t->in_call = false;
	tense_area_begin(t, tense_counter());
	tense_area_tell(t);
}

/**
 * tense_own_begin() - from here on Tense works, and nothing is charged
 * @t: the calling task
 * @own: what it works
 * @learn: it may have come straight from the last such work
 */
void tense_own_begin(struct tense_task *t, enum tense_own own, bool learn)
{
	struct tense_experiment *exp = t->exp;
	enum tense_ways way = way_to(own);
	u64 now;

	tense_settle();
	now = tense_real_now();
	raw_spin_lock_irq(&exp->lock);
	raw_spin_lock(&t->lock);
	tense_charge_stop(t);
	if (learn && may_follow(t->left, own))
		note(&exp->way[way], now - t->left_at);
	refund_half(t, way);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&exp->lock);
}

/**
 * tense_own_end() - the end of Tense's work
 * @t: the calling task
 * @own: as at the beginning
 *
 * Return: the task's virtual time.
 */
u64 tense_own_end(struct tense_task *t, enum tense_own own)
{
	struct tense_experiment *exp = t->exp;
	u64 now, left_at;

	tense_settle();
	left_at = tense_real_now();
	raw_spin_lock_irq(&exp->lock);
	raw_spin_lock(&t->lock);
	refund_half(t, way_from(own));
	now = vclock_read(&exp->vc, &t->v);
	t->left = own;
	t->left_at = left_at;
	tense_charge_go_on(t);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&exp->lock);

	/* It may have changed how soon a deadline is reached (R7). */
	tense_rearm_running(t);
	return now;
}
