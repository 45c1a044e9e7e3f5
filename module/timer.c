// SPDX-License-Identifier: GPL-2.0
/*
 * R6 and R7: says when a CPU looks for deadlines next. Each CPU has a timer for the
 * deadline, the release of a gated task or the end of the window that its own running
 * task may reach first. A CPU kicks the others if a new deadline may come before their
 * timers, but not for a release. fire.c has the handlers of the timers and kicks.
 *
 * Only its own CPU uses a CPU's timer, with interrupts disabled. Callers may hold
 * the run queue lock, except where stated.
 */
#include <linux/sched/clock.h>

#include "area.h"
#include "tense.h"

/* Returns the real ns until @next, which is 0 if there is no pause. */
static u64 pause_left(u64 *next)
{
	u64 now;

	if (!*next)
		return 0;
	now = tense_real_now();
	if (now < *next)
		return *next - now;
	*next = 0;
	return 0;
}

/**
 * tense_pause_left() - the real ns for which a CPU fires no deadlines
 * @c: state of this CPU
 *
 * Reads the clock only if the CPU has made a pause. Caller has disabled interrupts.
 */
u64 tense_pause_left(struct tense_cpu *c)
{
	return pause_left(&c->fire_next);
}

static void set_recheck(struct tense_task *t)
{
	u64 now = local_clock();

	t->v.recheck = t->recheck_at > now ? t->recheck_at - now : 0;
	if (!t->v.recheck)
		t->recheck_at = 0;
}

/*
 * R7: notes what a thread with a ring says about records to come. Its next charge
 * brings all of its page up to date, also what depends on real time.
 */
static void take_lowest(struct tense_task *t)
{
	u32 lowest;

	if (!t->area)
		return;
	lowest = READ_ONCE(tense_ring_of(t->area)->lowest);
	t->v.lowest = min_t(u32, lowest, TENSE_PERCENT_MAX * TENSE_FINE);
	t->plain = false;
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

/* In real ns. A timer for the last ns of own work could come again and again. */
#define OWN_WORK_LEFT_MIN	((u64)10000)

/*
 * Own work ends by itself: from then on the task is charged, and needs the timer. R7: a
 * deadline that is due does not wait for that.
 */
static u64 horizon_outside_call(struct tense_task *t)
{
	u64 ns;

	if (t->own_work)
		return vclock_due(&t->exp->vc) ? 0 :
		       max(t->own_work, OWN_WORK_LEFT_MIN);
	t->v.pause = pause_left(&this_cpu_ptr(t->exp->cpu)->window_next);
	ns = vclock_horizon(&t->exp->vc, &t->v);
	/* A sampler has a pause of its own, so that it does not take the CPU. */
	return min(ns, tense_sampler_horizon(t));
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
	take_lowest(t);
	if (t->recheck_at)
		set_recheck(t);
	/*
	 * Ask tense_is_to_stop() first. GVT only rises, so a task that is not ahead
	 * then is not ahead later, and the horizon contains the end of its window.
	 */
	if (t->v.cpu >= 0 && !t->in_call) {
		stops = tense_is_to_stop(t);
		ns = stops ? 0 : horizon_outside_call(t);
	}
	/* In another class than the fair one its time stands still: look once a tick. */
	if (ns && !tense_is_fair(t->task))
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

/* This CPU's timer fires in @ns, or after the pause. Caller has disabled interrupts. */
static void start_timer(struct tense_experiment *exp, u64 ns)
{
	struct tense_cpu *c = this_cpu_ptr(exp->cpu);

	WRITE_ONCE(c->used, true);
	hrtimer_start(&c->timer, ns_to_ktime(max(ns, tense_pause_left(c))),
		      HRTIMER_MODE_REL_PINNED_HARD);
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

static noinline void look_ahead(struct tense_experiment *exp,
				struct tense_task *running)
{
	struct hrtimer *timer = &this_cpu_ptr(exp->cpu)->timer;
	u64 ns = VCLOCK_NEVER;

	/*
	 * One CPU raises GVT and then looks for a deadline. Another CPU queues a
	 * deadline and then looks at GVT. With a barrier in between, one of the two
	 * sees the other's write. The same holds for deadlines and CPUs that turn
	 * active. Pairs with kick_others() and tense_kick_past(). For a release it
	 * pairs with itself: begin_wait() queues the release, and its CPU then comes
	 * here because it switches.
	 */
	smp_mb();
	if (running)
		ns = horizon_of(running);
	if (ns == VCLOCK_NEVER)
		ns = horizon_without(exp);
	if (ns != VCLOCK_NEVER)
		start_timer(exp, ns);
	else if (hrtimer_is_queued(timer))
		hrtimer_try_to_cancel(timer);
}

/* With one CPU no window ends. Without an area there is no ring to read in time. */
static bool has_nothing_ahead(const struct tense_experiment *exp,
			      const struct tense_task *running)
{
	return running && !running->area && exp->vc.cpus == 1 &&
	       READ_ONCE(exp->vc.due) == VCLOCK_NEVER &&
	       !READ_ONCE(exp->survey) &&
	       !hrtimer_is_queued(&this_cpu_ptr(exp->cpu)->timer);
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
	lockdep_assert_irqs_disabled();

	if (!has_nothing_ahead(exp, running))
		look_ahead(exp, running);
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

/* Caller has disabled interrupts, so that the CPU stays online. */
static void kick_cpu(struct tense_cpu *c, int cpu)
{
	WRITE_ONCE(c->used, true);
	/* Several CPUs may want to kick this one, but only one may queue the call. */
	if (!atomic_xchg(&c->kicked, 1) &&
	    smp_call_function_single_async(cpu, &c->kick))
		atomic_set(&c->kicked, 0);
}

/*
 * Lets the other active CPUs look for due deadlines. A CPU that turns active meanwhile
 * sets its own timer.
 */
static void kick_others(struct tense_experiment *exp)
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
	struct tense_task *t = tense_member(exp);
	unsigned long flags;

	local_irq_save(flags);
	/* In a call the task's time stands still, so it is current. */
	if (!t || !t->in_call)
		tense_settle();
	tense_rearm(exp, t);
	kick_others(exp);
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
