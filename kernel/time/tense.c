// SPDX-License-Identifier: GPL-2.0
/*
 * Tense: clocks, time-outs and timers of tasks in virtual time.
 *
 * A task outside of every experiment may use a timer inside. RCU keeps the
 * module's code for it, and the experiment that the timer points to.
 */
#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
#include <linux/tense.h>

#include "tick-internal.h"

bool __tense_timer_now(const struct hrtimer *timer, ktime_t *now)
{
	bool known;

	if (in_task() && tense_has(current))
		return __tense_time(timer->base->index % TENSE_TIMER_CLOCKS, now);
	rcu_read_lock();
	known = tense_timer_is_virtual(timer) &&
		tense_ops->timer_now(timer, now);
	rcu_read_unlock();
	return known;
}

bool __tense_now(enum tense_clock_id clock, ktime_t *now)
{
	return tense_ops->now(current->tense, clock, now);
}

bool __tense_time(enum tense_clock_id clock, ktime_t *now)
{
	return tense_ops->time(current->tense, clock, now);
}

/* Whether a signal may end the wait, which is then a wait of the program's own. */
static bool is_own_wait(void)
{
	return (READ_ONCE(current->__state) & ~TASK_FREEZABLE) ==
	       TASK_INTERRUPTIBLE;
}

bool __tense_schedule_timeout(long *timeout)
{
	ktime_t now, end = KTIME_MAX;

	if (!is_own_wait() || !__tense_time(TENSE_MONOTONIC, &now))
		return false;
	if (*timeout < KTIME_MAX / TICK_NSEC)
		end = ktime_add_safe(now, *timeout * TICK_NSEC);
	schedule_hrtimeout_range(&end, 0, HRTIMER_MODE_ABS);
	__tense_time(TENSE_MONOTONIC, &now);
	*timeout = end > now ? DIV_ROUND_UP_ULL(end - now, TICK_NSEC) : 0;
	return true;
}

bool __tense_timer_start(struct hrtimer *timer, ktime_t time,
			 enum hrtimer_mode mode)
{
	/*
	 * It may be queued in real or in virtual time, and its callback may be
	 * running.
	 */
	hrtimer_try_to_cancel(timer);
	if (!in_task() || !tense_has(current) || timer->is_soft ||
	    (IS_ENABLED(CONFIG_PREEMPT_RT) && !timer->is_hard))
		return false;
	return tense_ops->timer_start(current->tense, timer, time,
				      mode & HRTIMER_MODE_REL);
}

int tense_timer_cancel(struct hrtimer *timer)
{
	int ret = 0;

	rcu_read_lock();
	if (tense_timer_is_virtual(timer))
		ret = tense_ops->timer_cancel(timer);
	rcu_read_unlock();
	return ret;
}

void __tense_clock_set(void)
{
	rcu_read_lock();
	if (static_branch_unlikely(&tense_key))
		tense_ops->clock_set();
	rcu_read_unlock();
}
