// SPDX-License-Identifier: GPL-2.0
/*
 * R7: fires deadlines. Each CPU has a timer for the deadline or the end of the window
 * (R6) that its own running task may reach first. A deadline fires when the last
 * active CPU has reached it.
 *
 * exp->lock protects the queue of deadlines and t->wait. Only its own CPU uses a
 * CPU's timer and "firing", with interrupts disabled. No lock is held while a
 * deadline wakes a task.
 */
#include <linux/sched/clock.h>
#include <linux/sched/rt.h>

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

/*
 * Returns the real ns for which this CPU fires no deadlines. Reads the clock only
 * then.
 */
static u64 pause_left(struct tense_cpu *c)
{
	u64 now;

	if (!c->fire_next)
		return 0;
	now = tense_real_now();
	if (now < c->fire_next)
		return c->fire_next - now;
	c->fire_next = 0;
	return 0;
}

/* Caller has disabled interrupts, so that RCU keeps tasks in memory for the wake-up. */
static void fire(struct tense_experiment *exp)
{
	u64 start = local_clock(), was = READ_ONCE(exp->vc.due);
	struct tense_cpu *c = this_cpu_ptr(exp->cpu);
	int left = FIRE_MAX;

	lockdep_assert_irqs_disabled();

	if (pause_left(c))
		return;
	while (left && fire_next(exp))
		left--;
	if (!left)
		c->fire_next = tense_real_now() + local_clock() - start;
	tense_kick_past(exp, was);
}

static void set_recheck(struct tense_task *t)
{
	u64 now = local_clock();

	t->v.recheck = t->recheck_at > now ? t->recheck_at - now : 0;
	if (!t->v.recheck)
		t->recheck_at = 0;
}

/*
 * Stops the running task as soon as this CPU enables interrupts. A timer fires
 * late if a busy host emulates it. Until then the task would read the time of
 * its CPU, which is ahead, and pass it on (R9).
 */
static void stop_soon(struct tense_experiment *exp)
{
	struct tense_cpu *c = this_cpu_ptr(exp->cpu);

	if (!arch_irq_work_has_interrupt())
		return;
	WRITE_ONCE(c->used, true);
	irq_work_queue(&c->stop);
}

/*
 * In a call the task's time stands still. A timer for its horizon could come again
 * and again before the call gets any further.
 */
static u64 horizon_of(struct tense_task *t)
{
	u64 ns = VCLOCK_NEVER;
	bool stops = false;

	raw_spin_lock(&t->lock);
	if (t->recheck_at)
		set_recheck(t);
	/*
	 * Ask tense_is_to_stop() first. GVT only rises, so a task that is not ahead
	 * then is not ahead later, and the horizon contains the end of its window.
	 */
	if (t->v.cpu >= 0 && !t->in_call) {
		stops = tense_is_to_stop(t);
		ns = stops ? 0 : vclock_horizon(&t->exp->vc, &t->v);
	}
	/* In another class than the fair one its time stands still: look once a tick. */
	if (ns && rt_task(t->task))
		ns = max(ns, (u64)TICK_NSEC);
	raw_spin_unlock(&t->lock);
	if (stops)
		stop_soon(t->exp);
	return ns;
}

static u64 horizon_without(struct tense_experiment *exp)
{
	u64 ns;

	if (vclock_active(&exp->vc))
		return vclock_horizon(&exp->vc, NULL);
	raw_spin_lock(&exp->lock);
	vclock_advance(&exp->vc, tense_real_now());
	ns = vclock_horizon(&exp->vc, NULL);
	raw_spin_unlock(&exp->lock);
	return ns;
}

/* Caller has disabled interrupts. Starts this CPU's timer. */
static void start_timer(struct tense_experiment *exp, u64 ns)
{
	struct tense_cpu *c = this_cpu_ptr(exp->cpu);

	WRITE_ONCE(c->used, true);
	hrtimer_start(&c->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * tense_look() - let this CPU look for due deadlines soon
 * @exp: experiment
 *
 * Caller has disabled interrupts, and may hold the run queue lock.
 */
void tense_look(struct tense_experiment *exp)
{
	start_timer(exp, 0);
}

/**
 * tense_rearm() - set this CPU's timer for what comes next
 * @exp: experiment
 * @running: its task that runs on this CPU, charged just now, or NULL
 *
 * Caller has disabled interrupts, and may hold the run queue lock.
 */
void tense_rearm(struct tense_experiment *exp, struct tense_task *running)
{
	struct hrtimer *timer = &this_cpu_ptr(exp->cpu)->timer;
	u64 ns = VCLOCK_NEVER;

	lockdep_assert_irqs_disabled();

	/*
	 * One CPU raises GVT and then looks for a deadline. Another CPU queues a
	 * deadline and then looks at GVT. With a barrier in between, one of the two
	 * sees the other's write. The same holds for deadlines and CPUs that turn
	 * active. Pairs with tense_kick_others() and tense_kick_past().
	 */
	smp_mb();
	if (running)
		ns = horizon_of(running);
	if (ns == VCLOCK_NEVER)
		ns = horizon_without(exp);
	if (ns != VCLOCK_NEVER)
		start_timer(exp, max(ns, pause_left(this_cpu_ptr(exp->cpu))));
	else if (hrtimer_is_queued(timer))
		hrtimer_try_to_cancel(timer);
}

/**
 * tense_rearm_running() - call tense_rearm() for the calling task
 * @t: the calling task, outside of the scheduler
 */
void tense_rearm_running(struct tense_task *t)
{
	local_irq_disable();
	tense_rearm(t->exp, t);
	local_irq_enable();
}

/* Returns the running task if it is in @exp. */
static struct tense_task *member(const struct tense_experiment *exp)
{
	struct tense_task *t = current->tense;

	return t && t->exp == exp ? t : NULL;
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
	raw_spin_lock(&t->lock);
	from = max(t->recheck_at + RECHECK_PART * RECHECK_BURST, now) -
	       RECHECK_PART * RECHECK_BURST;
	t->recheck_at = from + RECHECK_PART * (now - start);
	raw_spin_unlock(&t->lock);
}

/* Charges this CPU's running task and fires the deadlines that are due. */
static void look_here(struct tense_experiment *exp)
{
	struct tense_task *t = member(exp);

	settle_in_interrupt(t);
	fire(exp);
	if (t)
		tense_stop_if_ahead(t);
	tense_rearm(exp, t);
}

/* Starts no timer, so that a task that cannot stop causes no further interrupt. */
static void stop_fn(struct irq_work *stop)
{
	struct tense_task *t = member(container_of(stop, struct tense_cpu, stop)->exp);

	if (t)
		tense_stop_if_ahead(t);
}

static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	look_here(container_of(timer, struct tense_cpu, timer)->exp);
	return HRTIMER_NORESTART;
}

static void kick_fn(void *info)
{
	struct tense_cpu *c = info;

	/* A full barrier: a deadline that is queued from here on may need a new kick. */
	atomic_xchg(&c->kicked, 0);
	look_here(c->exp);
}

/* Caller has disabled interrupts, so that the CPU stays online. */
static void kick_cpu(struct tense_cpu *c, int cpu)
{
	WRITE_ONCE(c->used, true);
	/* Several CPUs may want to kick this one, but only one may queue the call. */
	if (!atomic_xchg(&c->kicked, 1) &&
	    smp_call_function_single_async(cpu, &c->kick))
		atomic_set(&c->kicked, 0);
}

/**
 * tense_kick_others() - let the other active CPUs look for due deadlines
 * @exp: experiment
 *
 * A CPU that turns active meanwhile sets its own timer. Caller has disabled
 * interrupts, and may hold the run queue lock.
 */
void tense_kick_others(struct tense_experiment *exp)
{
	int cpu;

	lockdep_assert_irqs_disabled();

	smp_mb();	/* the deadline, before the active CPUs; see tense_rearm() */
	for_each_online_cpu(cpu) {
		if (cpu != smp_processor_id() &&
		    READ_ONCE(exp->vc.cpu[cpu].tasks))
			kick_cpu(per_cpu_ptr(exp->cpu, cpu), cpu);
	}
}

/**
 * tense_kick() - set timers after queueing a deadline that may be the first
 * @exp: experiment
 *
 * The timer of this CPU or of another one may be too late for that deadline. Caller
 * holds no run queue lock.
 */
void tense_kick(struct tense_experiment *exp)
{
	unsigned long flags;

	local_irq_save(flags);
	tense_settle();
	tense_rearm(exp, member(exp));
	tense_kick_others(exp);
	local_irq_restore(flags);
}

/**
 * tense_kick_past() - set timers after the first deadline has changed
 * @exp: experiment
 * @was: virtual time of the first deadline before
 *
 * A CPU that has passed @was sets its timer for the new first deadline. Caller has
 * disabled interrupts, and may hold the run queue lock and the experiment lock.
 */
void tense_kick_past(struct tense_experiment *exp, u64 was)
{
	u64 due = READ_ONCE(exp->vc.due);
	int cpu;

	lockdep_assert_irqs_disabled();

	/* A CPU that has passed the old deadline has passed an earlier one, too. */
	if (due <= was || due == VCLOCK_NEVER)
		return;
	smp_mb();	/* the deadline, before the LVTs; see tense_rearm() */
	for_each_online_cpu(cpu) {
		if (!vclock_untimed(&exp->vc, cpu, was))
			continue;
		if (cpu == smp_processor_id())
			tense_look(exp);
		else
			kick_cpu(per_cpu_ptr(exp->cpu, cpu), cpu);
	}
}

/**
 * tense_disarm() - take a deadline out of the queue
 * @exp: experiment, locked
 * @d: deadline, which need not be queued
 */
void tense_disarm(struct tense_experiment *exp, struct vclock_deadline *d)
{
	u64 was = READ_ONCE(exp->vc.due);

	lockdep_assert_held(&exp->lock);

	vclock_disarm(&exp->vc, d);
	tense_kick_past(exp, was);
}

void tense_timers_init(struct tense_experiment *exp)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tense_cpu *c = per_cpu_ptr(exp->cpu, cpu);

		c->exp = exp;
		hrtimer_init(&c->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		c->timer.function = timer_fn;
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
