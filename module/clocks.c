// SPDX-License-Identifier: GPL-2.0
/*
 * R9: the clocks as the tasks of an experiment see them. A clock shows its value
 * when the experiment began plus the virtual time since.
 *
 * t->lock is held while a task reads its time.
 */
#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "tense.h"

static_assert((int)TENSE_MONOTONIC == HRTIMER_BASE_MONOTONIC);
static_assert((int)TENSE_REALTIME == HRTIMER_BASE_REALTIME);
static_assert((int)TENSE_BOOTTIME == HRTIMER_BASE_BOOTTIME);
static_assert((int)TENSE_TAI == HRTIMER_BASE_TAI);

/**
 * tense_clock_of() - the value of a clock at a virtual time
 * @exp: experiment
 * @clock: clock
 * @when: virtual time
 *
 * A sum beyond the last time would be negative as a ktime_t. The callback of a
 * timer with an interval would then never move the timer on, and it would fire
 * for ever.
 *
 * Return: ns, at most KTIME_MAX.
 */
u64 tense_clock_of(const struct tense_experiment *exp,
		   enum tense_clock_id clock, u64 when)
{
	s64 start = exp->started + READ_ONCE(exp->offset[clock]);

	if (when >= (u64)KTIME_MAX - max_t(s64, start, 0))
		return KTIME_MAX;
	return start + when;
}

static bool clock_of(struct tense_task *t, enum tense_clock_id clock,
		     u64 (*time_of)(struct vclock *vc, struct vclock_task *t),
		     ktime_t *now)
{
	struct tense_experiment *exp = t->exp;
	unsigned long flags;

	if (!(READ_ONCE(exp->virtual_clocks) & BIT(clock)))
		return false;
	tense_settle();
	local_irq_save(flags);
	tense_task_lock(t);
	/* Take changes of percent and readings even if no time has passed. */
	tense_take_records(t);
	*now = tense_clock_of(exp, clock, time_of(&exp->vc, &t->v));
	raw_spin_unlock(&t->lock);
	local_irq_restore(flags);
	return true;
}

/**
 * tense_now() - read a clock for the running task
 * @t: the running task
 * @clock: clock
 * @now: set to the reading
 *
 * Return: false if the clock is the real one.
 */
bool tense_now(struct tense_task *t, enum tense_clock_id clock, ktime_t *now)
{
	return clock_of(t, clock, vclock_read, now);
}

/**
 * tense_charged() - the charged time, which no reading affects
 * @t: the running task
 * @clock: clock
 * @now: set to the clock at the charged time
 *
 * Return: false if the clock is the real one.
 */
bool tense_charged(struct tense_task *t, enum tense_clock_id clock, ktime_t *now)
{
	return clock_of(t, clock, vclock_now, now);
}

/**
 * tense_time() - the charged time, from which the running task's waits count
 * @t: the running task
 * @clock: clock of the wait
 * @now: set to the clock at the charged time, without a lead (R9)
 *
 * Return: false if the clock is the real one.
 */
bool tense_time(struct tense_task *t, enum tense_clock_id clock, ktime_t *now)
{
	return clock_of(t, clock, vclock_wait_from, now);
}
