// SPDX-License-Identifier: GPL-2.0
/*
 * R6: the gate. A task that is a window ahead waits here for GVT, on its way to user
 * mode, where it holds no lock of the kernel, but that of its virtual CPU if it enters a
 * guest of KVM. ahead.c sends it here.
 *
 * exp->lock protects the queue of releases and t->wait, which any CPU may read without
 * it. t->lock protects gate_queued and in_gate. Only the task itself writes in_gate, so
 * its own hook_dequeue() reads it without the lock. exp->lock is taken first. No lock is
 * held while the task sleeps.
 */
#include <linux/sched/signal.h>

#include "tense.h"
#include "trace.h"

/* Queues the calling task at the gate and returns true if it is ahead. */
static bool begin_wait(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	u64 lvt, gvt;
	bool ahead;

	raw_spin_lock_irq(&exp->lock);
	tense_task_lock(t);
	t->gate_queued = false;
	ahead = tense_may_stop(current) && vclock_ahead(&exp->vc, &t->v);
	lvt = vclock_lvt(&exp->vc, t->v.cpu);
	if (ahead) {
		vclock_gate(&exp->vc, &t->v);
		WRITE_ONCE(t->wait, TENSE_GATED);
	}
	raw_spin_unlock(&t->lock);
	gvt = vclock_reached(&exp->vc);
	raw_spin_unlock_irq(&exp->lock);
	if (ahead)
		trace_tense_gate(exp->id, current->pid, true, lvt, gvt);
	return ahead;
}

static void end_wait(struct tense_task *t, u64 since)
{
	struct tense_experiment *exp = t->exp;
	u64 lvt, gvt;

	raw_spin_lock_irq(&exp->lock);
	if (t->wait == TENSE_GATED) {
		tense_disarm(exp, &t->v.deadline);
		WRITE_ONCE(t->wait, TENSE_RUNS);
	}
	tense_task_lock(t);
	t->gated += tense_real_now() - since;
	lvt = vclock_lvt(&exp->vc, t->v.cpu);
	raw_spin_unlock(&t->lock);
	gvt = vclock_reached(&exp->vc);
	raw_spin_unlock_irq(&exp->lock);
	trace_tense_gate(exp->id, current->pid, false, lvt, gvt);
}

/* Waits until GVT has reached the release time, or the task is killed. */
static void wait_at_gate(struct tense_task *t)
{
	u64 since = tense_real_now();

	/*
	 * begin_wait() kicks no CPU, because an interrupt costs the task there time. The
	 * others find the release when their windows end, and this CPU when it switches.
	 */
	for (;;) {
		set_current_state(TASK_KILLABLE | TASK_FREEZABLE);
		if (READ_ONCE(t->wait) != TENSE_GATED ||
		    fatal_signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	end_wait(t, since);
}

/*
 * R13: the gate's own work is not charged. If it were, and took more than a window,
 * two tasks would send each other to the gate for ever.
 */
static void enter_gate(struct tense_task *t)
{
	tense_settle();
	tense_task_lock_irq(t);
	tense_charge_stop(t);
	t->in_gate = true;
	raw_spin_unlock_irq(&t->lock);
}

static void leave_gate(struct tense_task *t)
{
	tense_settle();
	tense_task_lock_irq(t);
	t->in_gate = false;
	tense_charge_go_on(t);
	/* R9: publish the task's time to the other threads. */
	vclock_read(&t->exp->vc, &t->v);
	raw_spin_unlock_irq(&t->lock);
}

/* R6: runs as task work, when the task holds no lock of the kernel. */
void tense_gate(struct callback_head *work)
{
	struct tense_task *t = container_of(work, struct tense_task, gate_work);

	enter_gate(t);
	/* Meanwhile other tasks on the CPU may have brought it further ahead. */
	while (begin_wait(t))
		wait_at_gate(t);
	leave_gate(t);
	/*
	 * While the CPU was ahead, its timer was set for a later window. Set it for the
	 * end of this one, because a context switch need not have done so.
	 */
	tense_rearm_running(t);
}

/**
 * tense_gate_moved() - R6: release a gated task sooner if it has migrated
 * @t: the task, which may be at the gate
 *
 * A gated task can migrate if it was preempted before it slept, or woken without
 * having looked yet. Caller has disabled interrupts, and may hold the run queue
 * lock.
 */
void tense_gate_moved(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	bool sooner = false;

	if (READ_ONCE(t->wait) != TENSE_GATED)
		return;
	raw_spin_lock(&exp->lock);
	tense_task_lock(t);
	if (t->wait == TENSE_GATED)
		sooner = vclock_regate(&exp->vc, &t->v);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock(&exp->lock);
	if (sooner)
		tense_look(exp);
}
