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

/* Takes the next deadline that is due; returns its task, still to be woken. */
static struct task_struct *take_due(struct tense_experiment *exp)
{
	struct vclock_deadline *d;
	struct task_struct *task;
	struct tense_task *t;
	unsigned long flags;
	u64 gvt;

	raw_spin_lock_irqsave(&exp->lock, flags);
	d = vclock_expire(&exp->vc, tense_real_now());
	if (!d) {
		raw_spin_unlock_irqrestore(&exp->lock, flags);
		return NULL;
	}
	t = container_of(d, struct tense_task, v.deadline);
	task = t->task;
	t->v.ready = d->when;
	WRITE_ONCE(t->wait, TENSE_RUNS);
	t->due = true;
	exp->fired++;
	gvt = exp->vc.gvt;
	trace_tense_deadline(exp->id, task->pid, d->when, gvt);
	raw_spin_unlock_irqrestore(&exp->lock, flags);
	return task;
}

/* With interrupts disabled, which keeps the tasks' memory for the wake-up. */
static void fire(struct tense_experiment *exp)
{
	struct task_struct *task;

	lockdep_assert_irqs_disabled();

	while ((task = take_due(exp)))
		wake_up_process(task);
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

/* Charges this CPU's running task and does what has become due. */
static void look_here(struct tense_experiment *exp)
{
	struct tense_task *t;

	tense_settle();
	fire(exp);
	t = current->tense;
	tense_rearm(exp, t && t->exp == exp ? t : NULL);
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
	hrtimer_start(&this_cpu_ptr(exp->cpu)->timer, 0,
		      HRTIMER_MODE_REL_PINNED_HARD);
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
