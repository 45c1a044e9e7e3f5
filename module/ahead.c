// SPDX-License-Identifier: GPL-2.0
/*
 * R6: finds out that a task is a window ahead, and asks it to stop at the gate. The
 * task may hold locks of the kernel now, so this file only queues task work. gate.c
 * has that work.
 *
 * t->lock protects gate_queued and in_gate. A CPU writes over_user and over_kernel with
 * interrupts disabled.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <asm/irq_regs.h>

#include "tense.h"

/* Notes how far the task exceeds the window, apart for user mode and kernel. */
static void note_over(struct tense_task *t)
{
	struct tense_cpu *c = this_cpu_ptr(t->exp->cpu);
	struct pt_regs *regs = t->task == current ? get_irq_regs() : NULL;
	u64 over = vclock_over(&t->exp->vc, &t->v);

	if (regs && user_mode(regs))
		WRITE_ONCE(c->over_user, max(c->over_user, over));
	else
		WRITE_ONCE(c->over_kernel, max(c->over_kernel, over));
}

/**
 * tense_may_stop() - whether a task that is ahead may stop at the gate
 * @p: the task
 *
 * An exiting task does not return to user mode, but does task work several times.
 * Workers of io_uring and vhost never return there, and hold locks meanwhile. execve(2)
 * does task work while it holds the lock that ptrace(2) takes.
 */
bool tense_may_stop(struct task_struct *p)
{
	return !(p->flags & (PF_EXITING | COMPAT_PF_WORKER)) && !p->in_execve &&
	       !(p->signal->flags & SIGNAL_GROUP_EXIT) &&
	       !fatal_signal_pending(p);
}

/**
 * tense_stop_ahead() - R6: let a task that is ahead stop at its return to user mode
 * @t: is ahead, locked; if it runs on another CPU, only that CPU stops it
 * @jumped: a jump took it there, so that it exceeds the window on purpose
 */
void tense_stop_ahead(struct tense_task *t, bool jumped)
{
	lockdep_assert_held(&t->lock);

	if (!jumped)
		note_over(t);
	if (t->gate_queued || t->in_gate || t->task != current ||
	    !tense_may_stop(current))
		return;
	t->gate_queued = !tense_at_return(current, &t->gate_work);
}

/**
 * tense_is_to_stop() - whether the running task is ahead and must stop
 * @t: the task, locked
 *
 * Only the fair class charges tasks.
 */
bool tense_is_to_stop(const struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	return t->v.cpu >= 0 && vclock_ahead(&t->exp->vc, &t->v) &&
	       !t->gate_queued && !t->in_gate && tense_may_stop(t->task) &&
	       tense_is_fair(t->task);
}

/**
 * tense_stop_if_ahead() - ask the running task to stop if it is ahead
 * @t: the task
 *
 * A task may begin to run on a CPU that is ahead already, and then run long without
 * a charge: its clock stands still after a host has stolen time. Caller has disabled
 * interrupts.
 */
void tense_stop_if_ahead(struct tense_task *t)
{
	tense_task_lock(t);
	if (tense_is_to_stop(t))
		tense_stop_ahead(t, false);
	raw_spin_unlock(&t->lock);
}
