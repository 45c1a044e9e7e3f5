// SPDX-License-Identifier: GPL-2.0
/*
 * R7: sleeps, time-outs and timers of tasks in virtual time. A task that sleeps has
 * a deadline of its own. A timer waits in the queue of its clock. The first timer of
 * each queue has one of the experiment's deadlines.
 *
 * timer->tense points to an experiment while the timer is queued here or its
 * callback runs. The lock of that experiment protects the timer's tense, is_virtual
 * and is_fired and, while is_virtual is set, its place in a queue. While the callback
 * runs, others may queue the timer elsewhere.
 */
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>

#include "tense.h"

/* Timers that continue in real time per section with interrupts disabled. */
#define HAND_OVER_MAX	64

/**
 * tense_sleep() - sleep until a virtual time
 * @t: the calling task
 * @when: virtual time
 *
 * Return: 0, or -EINTR if a signal came first.
 */
int tense_sleep(struct tense_task *t, u64 when)
{
	struct tense_experiment *exp = t->exp;

	raw_spin_lock_irq(&exp->lock);
	vclock_arm(&exp->vc, &t->v.deadline, when);
	WRITE_ONCE(t->wait, TENSE_SLEEPS);
	tense_task_lock(t);
	vclock_wait_until(&t->v, when);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&exp->lock);
	tense_kick(exp);

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (READ_ONCE(t->wait) != TENSE_SLEEPS ||
		    signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);

	raw_spin_lock_irq(&exp->lock);
	if (t->wait != TENSE_SLEEPS) {
		raw_spin_unlock_irq(&exp->lock);
		return 0;
	}
	tense_disarm(exp, &t->v.deadline);
	WRITE_ONCE(t->wait, TENSE_RUNS);
	tense_task_lock(t);
	vclock_wait_end(&t->v, when);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&exp->lock);
	return -EINTR;
}

/* Bases of soft and hard timers have the same clocks, one after the other. */
static enum tense_clock_id clock_of(const struct hrtimer *timer)
{
	return timer->base->index % TENSE_TIMER_CLOCKS;
}

static struct tense_queue *queue_of(struct tense_experiment *exp,
				    const struct hrtimer *timer)
{
	return &exp->queue[clock_of(timer)];
}

/*
 * The virtual time at which the clock of a queue shows @time. A deadline beyond
 * VCLOCK_DEADLINE_MAX never comes: if it were cut to that limit, it would come
 * at once when virtual time passes the limit.
 */
static u64 when_of(const struct tense_experiment *exp,
		   const struct tense_queue *q, ktime_t time)
{
	u64 start = tense_clock_of(exp, q - exp->queue, 0);

	/* The end of a clock that was set late may come before that limit. */
	if (time >= ktime_set(KTIME_SEC_MAX, 0))
		return VCLOCK_NEVER;
	if (time < 0 || time < start)
		return 0;
	return time - start <= VCLOCK_DEADLINE_MAX ? time - start : VCLOCK_NEVER;
}

static void arm_first(struct tense_experiment *exp, struct tense_queue *q)
{
	struct hrtimer *timer = compat_queue_first(&q->timers);
	u64 when = timer ? when_of(exp, q, hrtimer_get_expires(timer)) :
			   VCLOCK_NEVER;
	u64 was = READ_ONCE(exp->vc.due);

	lockdep_assert_held(&exp->lock);

	if (when != VCLOCK_NEVER)
		vclock_rearm(&exp->vc, &q->first, when);
	else
		vclock_disarm(&exp->vc, &q->first);
	tense_kick_past(exp, was);
}

void tense_waits_init(struct tense_experiment *exp)
{
	int i;

	for (i = 0; i < TENSE_TIMER_CLOCKS; i++)
		compat_queue_init(&exp->queue[i].timers);
}

/* Returns true if the timer is now the first of its queue. */
static bool enqueue(struct tense_experiment *exp, struct hrtimer *timer)
{
	struct tense_queue *q = queue_of(exp, timer);
	bool first;

	lockdep_assert_held(&exp->lock);

	WRITE_ONCE(timer->tense, exp);
	timer->is_virtual = true;
	first = compat_queue_add(&q->timers, timer);
	if (first)
		arm_first(exp, q);
	return first;
}

static void dequeue(struct tense_experiment *exp, struct hrtimer *timer)
{
	struct tense_queue *q = queue_of(exp, timer);
	bool first;

	lockdep_assert_held(&exp->lock);

	first = compat_queue_first(&q->timers) == timer;
	compat_queue_del(&q->timers, timer);
	timer->is_virtual = false;
	if (first)
		arm_first(exp, q);
}

/*
 * Whether schedule() follows anyway, which sets this CPU's timer. A sleeper's timer is on
 * its stack. signalfd() arms others of a task that seems to go to sleep, but does not.
 */
static bool goes_to_sleep(const struct hrtimer *timer)
{
	return num_online_cpus() == 1 &&
	       READ_ONCE(current->__state) != TASK_RUNNING && object_is_on_stack(timer);
}

/**
 * tense_wait_start() - arm a timer in virtual time
 * @t: the running task
 * @timer: its timer, which is in no queue
 * @time: the expiry by the timer's clock, or ns from now
 * @relative: whether @time counts from now
 *
 * Return: false if the timer's clock is a real one.
 */
bool tense_wait_start(struct tense_task *t, struct hrtimer *timer, ktime_t time,
		      bool relative)
{
	enum tense_clock_id clock = clock_of(timer);
	struct tense_experiment *exp = t->exp, *old = READ_ONCE(timer->tense);
	unsigned long flags;
	bool first, virtual;
	ktime_t now;

	/* Another experiment's callback is still running. */
	if (old && old != exp)
		return false;
	/* An absolute time does not count from now, so it needs no lead (R9). */
	virtual = relative ? tense_time(t, clock, &now) :
			     tense_charged(t, clock, &now);
	if (!virtual)
		return false;
	/* As in real time: a sum that wraps becomes the latest time. */
	time = ktime_add_safe(time, relative ? now : 0);
	hrtimer_set_expires(timer, time);

	raw_spin_lock_irqsave(&exp->lock, flags);
	first = enqueue(exp, timer) && exp->vc.first == &exp->queue[clock].first;
	tense_task_lock(t);
	vclock_wait_until(&t->v, when_of(exp, &exp->queue[clock], time));
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irqrestore(&exp->lock, flags);
	if (first && !goes_to_sleep(timer))
		tense_kick(exp);
	return true;
}

/* R9: a wait that ends early keeps no lead until its deadline, which is @when. */
static void end_wait(const struct tense_experiment *exp, u64 when)
{
	struct tense_task *t = in_task() ? current->tense : NULL;

	lockdep_assert_held(&exp->lock);

	if (!t || t->exp != exp)
		return;
	tense_task_lock(t);
	vclock_wait_end(&t->v, when);
	raw_spin_unlock(&t->lock);
}

/**
 * tense_wait_cancel() - take a timer out of its queue
 * @timer: timer
 *
 * Caller is in an RCU read-side section.
 *
 * Return: 1 if the timer was queued; -1 if its callback runs, even if it was armed
 * again meanwhile; 0 if it is in no queue.
 */
int tense_wait_cancel(struct hrtimer *timer)
{
	struct tense_experiment *exp = READ_ONCE(timer->tense);
	unsigned long flags;
	int ret = 0;

	if (!exp)
		return 0;
	raw_spin_lock_irqsave(&exp->lock, flags);
	if (timer->tense == exp) {
		if (timer->is_virtual) {
			dequeue(exp, timer);
			end_wait(exp, when_of(exp, queue_of(exp, timer),
					      hrtimer_get_expires(timer)));
		}
		if (!timer->is_fired)
			WRITE_ONCE(timer->tense, NULL);
		ret = timer->is_fired ? -1 : 1;
	}
	raw_spin_unlock_irqrestore(&exp->lock, flags);
	return ret;
}

/*
 * Tells the clock of a timer that is queued or whose callback runs. Caller is in an
 * RCU read-side section.
 */
bool tense_wait_now(const struct hrtimer *timer, ktime_t *now)
{
	enum tense_clock_id clock = clock_of(timer);
	struct tense_experiment *exp = READ_ONCE(timer->tense);
	unsigned long flags;
	bool is_virtual;

	if (!exp)
		return false;
	raw_spin_lock_irqsave(&exp->lock, flags);
	/* While the timer is the experiment's, its memory is not freed. */
	is_virtual = timer->tense == exp;
	if (is_virtual)
		*now = tense_clock_of(exp, clock,
				      vclock_gvt(&exp->vc, tense_real_now()));
	raw_spin_unlock_irqrestore(&exp->lock, flags);
	return is_virtual;
}

/**
 * tense_wait_take() - take out the timer of an expired deadline
 * @exp: experiment, locked
 * @d: deadline that has just expired
 *
 * Return: the timer, for tense_wait_run(), or NULL if the deadline is a task's own.
 */
struct hrtimer *tense_wait_take(struct tense_experiment *exp,
				struct vclock_deadline *d)
{
	struct tense_queue *q = container_of(d, struct tense_queue, first);
	struct hrtimer *timer;

	lockdep_assert_held(&exp->lock);

	if (q < exp->queue || q >= exp->queue + TENSE_TIMER_CLOCKS)
		return NULL;
	timer = compat_queue_first(&q->timers);
	dequeue(exp, timer);
	timer->is_fired = true;
	/* Skip no time before the tasks that the timer wakes count as woken. */
	exp->vc.outside++;
	return timer;
}

/* PREEMPT_RT runs most callbacks in threads: they may take locks that sleep. */
static_assert(!IS_ENABLED(CONFIG_PREEMPT_RT));

/**
 * tense_wait_run() - run the callback of a timer
 * @exp: experiment
 * @timer: from tense_wait_take()
 *
 * Runs in a hard interrupt. Afterwards the timer's memory may be gone.
 */
void tense_wait_run(struct tense_experiment *exp, struct hrtimer *timer)
{
	/* Tells lockdep the same as for timers in real time. */
	bool in_hardirq = lockdep_hrtimer_enter(timer);
	enum hrtimer_restart restart = compat_timer_call(timer);

	lockdep_hrtimer_exit(in_hardirq);
	raw_spin_lock(&exp->lock);
	exp->vc.outside--;
	timer->is_fired = false;
	if (restart == HRTIMER_RESTART && !hrtimer_is_queued(timer))
		enqueue(exp, timer);
	if (!timer->is_virtual)
		WRITE_ONCE(timer->tense, NULL);
	raw_spin_unlock(&exp->lock);
}

/* The clocks were set: timers wait for other virtual times. Caller holds exp->lock. */
void tense_waits_moved(struct tense_experiment *exp)
{
	int i;

	for (i = 0; i < TENSE_TIMER_CLOCKS; i++)
		arm_first(exp, &exp->queue[i]);
}

/*
 * The timer continues in real time with the same time left. Its "tense" changes
 * last: a task must not see it in no queue in between, and arm it anew.
 */
static void hand_over(struct tense_experiment *exp, struct hrtimer *timer)
{
	enum tense_clock_id clock = clock_of(timer);
	u64 now = tense_real_now();
	u64 virtual = tense_clock_of(exp, clock, vclock_gvt(&exp->vc, now));
	u64 real = tense_clock_of(exp, clock, now - exp->started);
	ktime_t time = hrtimer_get_expires(timer);

	lockdep_assert_held(&exp->lock);

	/*
	 * An overdue timer is due now. An earlier time may be so far from now that
	 * hrtimer_forward() overflows, and the timer would fire for ever.
	 */
	time = ktime_add_safe(real, max_t(ktime_t, time, virtual) - virtual);

	dequeue(exp, timer);
	/* hrtimer_start() must not take it for virtual again. */
	timer->is_task = false;
	hrtimer_start(timer, time, HRTIMER_MODE_ABS);
	timer->is_task = true;
	/* Pairs with tense_timer_is_virtual(). */
	smp_store_release(&timer->tense, NULL);
}

/*
 * Hands over some timers; false if none is left. No task is left that could arm one
 * meanwhile.
 */
static bool hand_over_some(struct tense_experiment *exp, struct tense_queue *q)
{
	struct hrtimer *timer = NULL;
	int left = HAND_OVER_MAX;

	raw_spin_lock_irq(&exp->lock);
	while (left-- && (timer = compat_queue_first(&q->timers)))
		hand_over(exp, timer);
	raw_spin_unlock_irq(&exp->lock);
	return timer;
}

/* The last task has left. Other processes may still use a timer that it armed. */
void tense_waits_end(struct tense_experiment *exp)
{
	int i;

	for (i = 0; i < TENSE_TIMER_CLOCKS; i++)
		while (hand_over_some(exp, &exp->queue[i]))
			;
}
