// SPDX-License-Identifier: GPL-2.0
/*
 * R7: the handlers of a CPU's timer and of kicks. They charge the running task, fire
 * the deadlines that GVT has reached, ask a task that is ahead to stop (R6), and set
 * the CPU's timer again. A deadline fires when the last active CPU has reached it.
 *
 * exp->lock protects the queues of deadlines and releases, and t->wait. Only its own
 * CPU uses "firing" and c->fire_next, with interrupts disabled. No lock is held while a
 * deadline wakes a task.
 */
#include <linux/sched/clock.h>

#include "tense.h"
#include "trace.h"

/* The deadline for which this CPU wakes tasks. Used with interrupts disabled. */
struct firing {
	const struct tense_experiment *exp;
	u64 when;
};

static DEFINE_PER_CPU(struct firing, firing);

/*
 * After FIRE_MAX deadlines at once, the CPU postpones the rest for as long as these
 * took. Otherwise a program that arms timers for past times would keep the CPU in
 * interrupts.
 */
#define FIRE_MAX	256
/*
 * Timers come early if a ring may hold changes of percent. They may spend 1 /
 * RECHECK_PART of a CPU on rings on average, and RECHECK_BURST ns at once.
 */
#define RECHECK_PART	100
#define RECHECK_BURST	((u64)NSEC_PER_MSEC / 5)
/*
 * A window of 500 us lasts 5 us of real time at percent 1. In User-Mode Linux, an
 * interrupt takes longer, so that the CPU would do nothing else. So a pause follows each
 * timer: PAUSE_PART times the time that the timer came late and its interrupt took. The
 * timer for the end of a window waits until the pause is over. LATE_MAX bounds that
 * time, because the host may have stolen it.
 *
 * Deadlines wait as well if the task ran for less than 1 / STUCK_PART of that time since
 * the timer before. Otherwise the timer could come again before the task runs at all.
 */
#define PAUSE_PART	3
#define STUCK_PART	4
#define LATE_MAX	((u64)100000)

/**
 * tense_firing() - whether this CPU wakes tasks for a deadline
 * @exp: experiment of the task that is being woken
 * @when: set to the deadline
 *
 * Caller has disabled interrupts.
 *
 * Return: true if the deadline is one of @exp.
 */
bool tense_firing(const struct tense_experiment *exp, u64 *when)
{
	const struct firing *f = this_cpu_ptr(&firing);

	if (f->exp != exp)
		return false;
	*when = f->when;
	return true;
}

static struct task_struct *take_task(struct tense_experiment *exp,
				     struct vclock_deadline *d)
{
	struct tense_task *t = container_of(d, struct tense_task, v.deadline);

	lockdep_assert_held(&exp->lock);

	tense_set_outside(t, true);
	WRITE_ONCE(t->wait, TENSE_RUNS);
	return t->task;
}

/* Fires the next deadline that is due; false if none is. */
static bool fire_next(struct tense_experiment *exp)
{
	struct task_struct *task = NULL;
	struct vclock_deadline *d;
	struct hrtimer *timer;
	u64 gvt, when;

	raw_spin_lock(&exp->lock);
	d = vclock_expire(&exp->vc, tense_real_now());
	if (!d) {
		raw_spin_unlock(&exp->lock);
		return false;
	}
	when = d->when;
	timer = tense_wait_take(exp, d);
	if (!timer)
		task = take_task(exp, d);
	exp->fired++;
	gvt = vclock_reached(&exp->vc);
	trace_tense_deadline(exp->id, task ? task->pid : 0, when, gvt);
	raw_spin_unlock(&exp->lock);

	__this_cpu_write(firing.exp, exp);
	__this_cpu_write(firing.when, when);
	if (timer)
		tense_wait_run(exp, timer);
	else
		wake_up_process(task);
	__this_cpu_write(firing.exp, NULL);
	return true;
}

/* Caller has disabled interrupts, so that RCU keeps tasks in memory for the wake-up. */
static void fire(struct tense_experiment *exp)
{
	u64 start = local_clock(), was = READ_ONCE(exp->vc.due);
	struct tense_cpu *c = this_cpu_ptr(exp->cpu);
	int left = FIRE_MAX;

	lockdep_assert_irqs_disabled();

	if (tense_pause_left(c))
		return;
	while (left && fire_next(exp))
		left--;
	if (!left)
		c->fire_next = tense_real_now() + local_clock() - start;
	tense_kick_past(exp, was);
}

/*
 * Charges this CPU's running task. A thread may fill its ring as fast as this
 * function empties it, and no task is charged for that. So this function limits how
 * often timers look at the ring.
 */
static void settle_in_interrupt(struct tense_task *t)
{
	u64 start = local_clock(), now, from;
	u32 tail = t ? READ_ONCE(t->tail) : 0;

	tense_settle();
	/* Only a thread with lower percents has a timer to postpone. */
	if (!t || !t->v.lowest || READ_ONCE(t->tail) == tail)
		return;
	now = local_clock();
	tense_task_lock(t);
	from = max(t->recheck_at + RECHECK_PART * RECHECK_BURST, now) -
	       RECHECK_PART * RECHECK_BURST;
	t->recheck_at = from + RECHECK_PART * (now - start);
	raw_spin_unlock(&t->lock);
}

/* The real ns that the running task has run, charged or not. */
static u64 run_of(const struct tense_task *t)
{
	return READ_ONCE(t->v.ran) + READ_ONCE(t->overhead);
}

/*
 * R6, R7: keeps timers from taking all of a CPU. @t is the task that runs there, or
 * NULL. @due: the real time for which the timer was set, 0 if this is no interrupt of it.
 */
static void pause_timer(struct tense_cpu *c, const struct tense_task *t, u64 due)
{
	u64 now = tense_real_now(), took, ran;

	if (!due || due >= now)
		return;
	took = min(now - due, LATE_MAX);
	c->window_next = now + PAUSE_PART * took;
	if (!t)
		return;
	ran = run_of(t);
	if (ran - c->ran < took / STUCK_PART)
		c->fire_next = max(c->fire_next, c->window_next);
	c->ran = ran;
}

/* Charges this CPU's running task and fires the deadlines that are due. */
static void look_here(struct tense_experiment *exp, u64 due)
{
	struct tense_task *t = tense_member(exp);

	settle_in_interrupt(t);
	fire(exp);
	if (t)
		tense_stop_if_ahead(t);
	pause_timer(this_cpu_ptr(exp->cpu), t, due);
	tense_rearm(exp, t);
}

/* Starts no timer, so that a task that cannot stop causes no further interrupt. */
static void stop_fn(struct irq_work *stop)
{
	struct tense_cpu *c = container_of(stop, struct tense_cpu, stop);
	struct tense_task *t = tense_member(c->exp);

	if (t)
		tense_stop_if_ahead(t);
}

static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	look_here(container_of(timer, struct tense_cpu, timer)->exp,
		  ktime_to_ns(hrtimer_get_expires(timer)));
	return HRTIMER_NORESTART;
}

static void kick_fn(void *info)
{
	struct tense_cpu *c = info;

	/* A full barrier: a deadline that is queued from here on may need a new kick. */
	atomic_xchg(&c->kicked, 0);
	look_here(c->exp, 0);
}

void tense_timers_init(struct tense_experiment *exp)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tense_cpu *c = per_cpu_ptr(exp->cpu, cpu);

		c->exp = exp;
		compat_timer_setup(&c->timer, timer_fn, CLOCK_MONOTONIC,
				   HRTIMER_MODE_REL_PINNED_HARD);
		c->stop = IRQ_WORK_INIT_HARD(stop_fn);
		INIT_CSD(&c->kick, kick_fn, c);
	}
}

static void nothing(void *info)
{
}

static bool is_used(int cpu, void *exp)
{
	const struct tense_experiment *e = exp;

	return READ_ONCE(per_cpu_ptr(e->cpu, cpu)->used);
}

/*
 * Waits until the interrupts that use the experiment have ended, and cancels
 * timers. Sends nothing to CPUs that the experiment never used.
 */
static void await_interrupts(struct tense_experiment *exp)
{
	int cpu;

	/* A call that waits may overtake queued kicks, but not a running one. */
	on_each_cpu_cond(is_used, nothing, exp, true);
	for_each_possible_cpu(cpu) {
		irq_work_sync(&per_cpu_ptr(exp->cpu, cpu)->stop);
		hrtimer_cancel(&per_cpu_ptr(exp->cpu, cpu)->timer);
	}
}

/* Caller has removed the last task. May sleep. */
void tense_timers_stop(struct tense_experiment *exp)
{
	int cpu;

	/* An interrupt that began while there was a task may still kick other CPUs. */
	await_interrupts(exp);
	for_each_possible_cpu(cpu) {
		while (atomic_read(&per_cpu_ptr(exp->cpu, cpu)->kicked))
			cpu_relax();
	}
	/* These kicks kick no further CPU, but may have started timers. */
	await_interrupts(exp);
}
