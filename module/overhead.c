// SPDX-License-Identifier: GPL-2.0
/*
 * R13: a task is not charged for Tense's own work. The module measures the time
 * that it works itself. This file learns the cost of the transitions from the
 * program to the module and back, and refunds it.
 *
 * exp->lock protects exp->transition. t->lock protects the task's in_call, own_work,
 * work_since, work_ns, left and left_at.
 */
#include "tense.h"

/* Short times of a transition that must be seen before its cost is refunded. */
#define TIMES_TO_LEARN	16

/*
 * A longer time, in ns, contains work of the caller's own. Otherwise a program that
 * reads the clock at intervals would get all its time refunded. In User-Mode Linux
 * a transition takes 30 us.
 */
#define TRANSITION_MAX	100000

/*
 * In ns. The real clock measures calls up to this length. It also counts interrupts:
 * the program gets their time back as well, but no more than this. The scheduler
 * measures longer calls.
 */
#define SHORT_CALL	5000

/*
 * In real ns. Own work of a program that never ends it is charged from then on. The
 * set-up of an area takes 0.2 ms in User-Mode Linux.
 */
#define OWN_WORK_MAX	(4 * (u64)NSEC_PER_MSEC)

void tense_work_init(struct tense_experiment *exp)
{
	int i;

	for (i = 0; i < TENSE_TRANSITIONS; i++)
		exp->transition[i].min = U64_MAX;
}

/*
 * The time between two pieces of Tense's work is the cost of leaving one and
 * entering the other, if the caller did nothing in between. Tense cannot see that,
 * but it can tell the shortest times from the others. The times are real, because
 * the task's own clock may leave out too much of an interrupt.
 */
static void note(struct tense_transition *transition, u64 between)
{
	if (between > TRANSITION_MAX)
		return;
	if (between < transition->min) {
		if (2 * between < transition->average)
			transition->average = between;
		transition->min = between;
	}
	if (between >= 2 * transition->min)
		return;
	if (!transition->average)
		transition->average = between;
	transition->average += ((s64)between - (s64)transition->average) / 8;
	if (transition->alike < TIMES_TO_LEARN)
		transition->alike++;
}

/**
 * tense_transition_cost() - cost of leaving one piece of Tense's work for the next
 * @exp: experiment
 * @transition: which transition
 *
 * Return: real ns, 0 while unknown.
 */
u64 tense_transition_cost(const struct tense_experiment *exp,
			  enum tense_transition_kind transition)
{
	const struct tense_transition *seen = &exp->transition[transition];

	return seen->alike < TIMES_TO_LEARN ? 0 : seen->average;
}

static enum tense_transition_kind transition_to(enum tense_work work)
{
	switch (work) {
	case TENSE_WORK_ENTRY:
		return TENSE_TRANSITION_OUTSIDE;
	case TENSE_WORK_RETURN:
		return TENSE_TRANSITION_INSIDE;
	default:
		return TENSE_TRANSITION_CALL;
	}
}

static enum tense_transition_kind transition_from(enum tense_work work)
{
	switch (work) {
	case TENSE_WORK_ENTRY:
		return TENSE_TRANSITION_INSIDE;
	case TENSE_WORK_RETURN:
		return TENSE_TRANSITION_OUTSIDE;
	default:
		return TENSE_TRANSITION_CALL;
	}
}

/*
 * Whether one piece of Tense's work may have come straight after the other. Among
 * calls, only readings of the clock are made in a row: a program that changes its
 * percent does something in between.
 */
static bool may_follow(enum tense_work left, enum tense_work work)
{
	if (work == TENSE_WORK_READING)
		return left == TENSE_WORK_READING;
	return left != TENSE_WORK_NONE && transition_from(left) == transition_to(work);
}

/**
 * tense_charge_stop() - charge the running task nothing from here on
 * @t: the calling task, settled just now, locked
 */
void tense_charge_stop(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	/* The scheduler reports no charge of 0 ns, and none outside the fair class. */
	tense_take_records(t);
	t->in_call = true;
	t->work_ns = 0;
}

/**
 * tense_charge_go_on() - charge the running task again
 * @t: the calling task, locked
 */
void tense_charge_go_on(struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	t->in_call = false;
	tense_stretch_begin(t, tense_counter());
	tense_page_update(t);
}

/**
 * tense_work_begin() - Tense's own work begins: charge nothing
 * @t: the calling task
 * @work: kind of work
 * @learn: learn the transition's cost if this work may have come straight from the
 *	last one
 */
void tense_work_begin(struct tense_task *t, enum tense_work work, bool learn)
{
	struct tense_experiment *exp = t->exp;
	u64 now;

	local_irq_disable();
	/* Comes first: to settle may drain the ring, which is Tense's work as well. */
	now = tense_real_now();
	tense_settle();
	raw_spin_lock(&exp->lock);
	tense_task_lock(t);
	tense_charge_stop(t);
	t->work_since = now;
	if (learn && may_follow(t->left, work))
		note(&exp->transition[transition_to(work)], now - t->left_at);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&exp->lock);
}

/**
 * tense_own_work_begin() - charge nothing after the current call either
 * @t: the calling task, in a call
 *
 * Own work ends with tense_own_work_end(), or when the task has run for OWN_WORK_MAX.
 */
void tense_own_work_begin(struct tense_task *t)
{
	tense_task_lock_irq(t);
	WRITE_ONCE(t->own_work, OWN_WORK_MAX);
	raw_spin_unlock_irq(&t->lock);
}

/**
 * tense_own_work_end() - charge again after the current call
 * @t: the calling task, in a call
 */
void tense_own_work_end(struct tense_task *t)
{
	/* Only the task itself raises it, so that a 0 stays. */
	if (!READ_ONCE(t->own_work))
		return;
	tense_task_lock_irq(t);
	WRITE_ONCE(t->own_work, 0);
	raw_spin_unlock_irq(&t->lock);
}

/**
 * tense_own_work_pass() - the task has run for @ns and is charged nothing
 * @t: the task, locked
 * @ns: real
 */
void tense_own_work_pass(struct tense_task *t, u64 ns)
{
	lockdep_assert_held(&t->lock);

	/* A program that the task has executed would never end own work. */
	if (t->mm != t->task->mm)
		ns = t->own_work;
	WRITE_ONCE(t->own_work, t->own_work - min(t->own_work, ns));
}

/*
 * Returns the real time. Up to then, at most SHORT_CALL of the call is not accounted:
 * the time from @since on.
 *
 * The scheduler reads its clock as the first thing when it settles. In User-Mode Linux
 * the rest takes 2.5 us. So the time from before counts.
 */
static u64 end_of_call(const struct tense_task *t, u64 *since)
{
	u64 now = tense_real_now();

	*since = READ_ONCE(t->work_since);
	if (now - *since <= SHORT_CALL)
		return now;
	*since = now;
	tense_settle();
	return tense_real_now();
}

/**
 * tense_work_end() - Tense's own work ends: charge again
 * @t: the calling task
 * @work: kind of work, as at the beginning
 *
 * Refunds one transition, at the percent from here on. If the call has changed the
 * percent, half of the transition was charged at the old one. The change back makes
 * the opposite error, so that both cancel out. In own work, the program pays only for
 * entering the first call and leaving the last one, which refunds both.
 *
 * Return: the task's virtual time.
 */
u64 tense_work_end(struct tense_task *t, enum tense_work work)
{
	struct tense_experiment *exp = t->exp;
	u64 now, since, left_at;

	local_irq_disable();
	left_at = end_of_call(t, &since);
	raw_spin_lock(&exp->lock);
	tense_task_lock(t);
	/* Is limited by the next charge: another CPU may have charged the task just now. */
	t->work_ns = min(left_at - since, (u64)SHORT_CALL);
	/* A sample makes no transition of its own. sampler.c refunds its interrupt. */
	if (!t->own_work && work != TENSE_WORK_SAMPLE)
		tense_refund(t, tense_transition_cost(exp, transition_from(work)));
	now = vclock_read(&exp->vc, &t->v);
	t->left = work;
	t->left_at = left_at;
	tense_charge_go_on(t);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&exp->lock);

	/* R7: the work may have changed how soon a deadline is reached. */
	tense_rearm_running(t);
	return now;
}
