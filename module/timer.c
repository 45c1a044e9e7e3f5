// SPDX-License-Identifier: GPL-2.0
/*
 * R6 and R7: when a deadline or the end of the window comes, and who sleeps
 * until then. Each CPU has a timer for what its own running task may reach
 * first; a deadline fires when the last active CPU has reached it.
 */
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>

#include "tense.h"
#include "trace.h"

/* The deadline for which this CPU wakes tasks, interrupts disabled. */
struct firing {
	const struct tense_experiment *exp;
	u64 when;
};

static DEFINE_PER_CPU(struct firing, firing);

/**
 * tense_firing() - whether a wake-up is due to a deadline
 * @exp: experiment of the task that is being woken
 * @when: set to the deadline
 *
 * With interrupts disabled.
 *
 * Return: true if this CPU is about one of @exp's deadlines.
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

	t->v.ready = d->when;
	tense_set_outside(t, true);
	WRITE_ONCE(t->wait, TENSE_RUNS);
	return t->task;
}

/* Does what the next deadline that is due is there for; false if none is. */
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
	gvt = exp->vc.gvt;
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

/* With interrupts disabled, which keeps the tasks' memory for the wake-up. */
static void fire(struct tense_experiment *exp)
{
	lockdep_assert_irqs_disabled();

	while (fire_next(exp))
		;
}

/*
 * R6: the task began to run on a CPU that is ahead already. Its first charge,
 * which it gets in no other class than the fair one, sends it to the gate.
 */
static bool is_to_stop(const struct tense_task *t)
{
	return !t->at_gate && !(t->task->flags & PF_EXITING) &&
	       !rt_task(t->task) && vclock_ahead(&t->exp->vc, &t->v);
}

/**
 * tense_rearm() - set this CPU's timer for what comes next
 * @exp: experiment
 * @running: its task that runs on this CPU, charged just now, or NULL
 *
 * With interrupts disabled; the runqueue may be locked.
 */
void tense_rearm(struct tense_experiment *exp, struct tense_task *running)
{
	struct hrtimer *timer = &this_cpu_ptr(exp->cpu)->timer;
	u64 ns;

	lockdep_assert_irqs_disabled();

	raw_spin_lock(&exp->lock);
	/*
	 * Its time stands still in a call: a timer set for that could come again
	 * and again, before the call gets any further.
	 */
	if (running && (running->v.cpu < 0 || running->in_call))
		running = NULL;
	vclock_advance(&exp->vc, tense_real_now());
	ns = vclock_horizon(&exp->vc, running ? &running->v : NULL);
	if (running && is_to_stop(running))
		ns = 0;
	raw_spin_unlock(&exp->lock);

	if (ns != VCLOCK_NEVER)
		hrtimer_start(timer, ns_to_ktime(ns),
			      HRTIMER_MODE_REL_PINNED_HARD);
	else if (hrtimer_is_queued(timer))
		hrtimer_try_to_cancel(timer);
}

/* The running task if it is one of the experiment's. */
static struct tense_task *member(const struct tense_experiment *exp)
{
	struct tense_task *t = current->tense;

	return t && t->exp == exp ? t : NULL;
}

/* Charges this CPU's running task and does what has become due. */
static void look_here(struct tense_experiment *exp)
{
	tense_settle();
	fire(exp);
	tense_rearm(exp, member(exp));
}

static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	look_here(container_of(timer, struct tense_cpu, timer)->exp);
	return HRTIMER_NORESTART;
}

static void kick_fn(void *info)
{
	struct tense_cpu *c = info;

	/* With a barrier: what is queued from here on may need a new kick. */
	atomic_xchg(&c->kicked, 0);
	look_here(c->exp);
}

/* Interrupts are disabled, so that the CPU stays online. */
static void kick_cpu(struct tense_cpu *c, int cpu)
{
	/* Several CPUs may want to, but only one may queue it. */
	if (!atomic_xchg(&c->kicked, 1) &&
	    smp_call_function_single_async(cpu, &c->kick))
		atomic_set(&c->kicked, 0);
}

/**
 * tense_kick() - a deadline was queued that may be the first
 * @exp: experiment
 *
 * This CPU's timer may be late then, or another CPU's. Runqueue unlocked.
 */
void tense_kick(struct tense_experiment *exp)
{
	unsigned long flags;
	int cpu;

	local_irq_save(flags);
	tense_settle();
	tense_rearm(exp, member(exp));
	for_each_online_cpu(cpu) {
		/* A CPU that turns active meanwhile sets its timer itself. */
		if (cpu != smp_processor_id() &&
		    READ_ONCE(exp->vc.cpu[cpu].tasks))
			kick_cpu(per_cpu_ptr(exp->cpu, cpu), cpu);
	}
	local_irq_restore(flags);
}

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
	t->wait = TENSE_SLEEPS;
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
	vclock_disarm(&exp->vc, &t->v.deadline);
	t->wait = TENSE_RUNS;
	raw_spin_unlock_irq(&exp->lock);
	return -EINTR;
}

/* R6, as task work: no lock of the kernel's is held here. */
void tense_gate(struct callback_head *work)
{
	struct tense_task *t = container_of(work, struct tense_task, gate_work);
	struct tense_experiment *exp = t->exp;
	u64 lvt, gvt, since;

	tense_settle();
	raw_spin_lock_irq(&exp->lock);
	t->at_gate = false;
	if ((current->flags & PF_EXITING) || !vclock_ahead(&exp->vc, &t->v)) {
		raw_spin_unlock_irq(&exp->lock);
		return;
	}
	vclock_arm(&exp->vc, &t->v.deadline,
		   vclock_release_time(&exp->vc, &t->v));
	t->wait = TENSE_GATED;
	since = tense_real_now();
	lvt = exp->vc.cpu[t->v.cpu].lvt.ns;
	gvt = exp->vc.gvt;
	raw_spin_unlock_irq(&exp->lock);
	trace_tense_gate(exp->id, current->pid, true, lvt, gvt);
	tense_kick(exp);

	for (;;) {
		set_current_state(TASK_KILLABLE | TASK_FREEZABLE);
		if (READ_ONCE(t->wait) != TENSE_GATED ||
		    fatal_signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);

	raw_spin_lock_irq(&exp->lock);
	if (t->wait == TENSE_GATED) {
		vclock_disarm(&exp->vc, &t->v.deadline);
		t->wait = TENSE_RUNS;
	}
	t->gated += tense_real_now() - since;
	lvt = exp->vc.cpu[t->v.cpu].lvt.ns;
	gvt = exp->vc.gvt;
	raw_spin_unlock_irq(&exp->lock);
	trace_tense_gate(exp->id, current->pid, false, lvt, gvt);
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
		INIT_CSD(&c->kick, kick_fn, c);
	}
}

static void nothing(void *info)
{
}

/* No task is left, so nothing kicks or starts a timer again. May sleep. */
void tense_timers_stop(struct tense_experiment *exp)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		while (atomic_read(&per_cpu_ptr(exp->cpu, cpu)->kicked))
			cpu_relax();
	}
	/* A call that waits is made before queued kicks, but not during one. */
	on_each_cpu(nothing, NULL, 1);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(exp->cpu, cpu)->timer);
}
