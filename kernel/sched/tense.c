// SPDX-License-Identifier: GPL-2.0
/*
 * Tense: between the scheduler and the module that keeps virtual time.
 *
 * Nothing here knows what virtual time is. This file holds what needs the
 * scheduler's internals or must stay in memory while the module goes.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/restart_block.h>
#include <linux/sched/cputime.h>
#include <linux/task_work.h>
#include <linux/tense.h>

#include "sched.h"

DEFINE_STATIC_KEY_FALSE(tense_key);

/* Protects registration only: a task that has a part pins the module. */
static DEFINE_MUTEX(tense_mutex);
const struct tense_ops *tense_ops;

/**
 * tense_register() - let a module keep virtual time
 * @ops: its hooks
 *
 * Return: 0, or -EBUSY if another module does that already.
 */
int tense_register(const struct tense_ops *ops)
{
	int err = 0;

	mutex_lock(&tense_mutex);
	if (tense_ops) {
		err = -EBUSY;
	} else {
		WRITE_ONCE(tense_ops, ops);
		static_branch_enable(&tense_key);
	}
	mutex_unlock(&tense_mutex);
	return err;
}
EXPORT_SYMBOL_GPL(tense_register);

/**
 * tense_unregister() - the module goes
 * @ops: its hooks
 *
 * No task may have a part any more, which the references that the tasks hold
 * guarantee in a module's exit function. Afterwards no CPU runs a hook.
 */
void tense_unregister(const struct tense_ops *ops)
{
	mutex_lock(&tense_mutex);
	if (!WARN_ON_ONCE(tense_ops != ops)) {
		static_branch_disable(&tense_key);
		/* The hooks run with interrupts disabled or for a task with a part. */
		synchronize_rcu();
		WRITE_ONCE(tense_ops, NULL);
	}
	mutex_unlock(&tense_mutex);
}
EXPORT_SYMBOL_GPL(tense_unregister);

/* Must hold rq's lock, of this CPU. */
static void settle(struct rq *rq)
{
	lockdep_assert_rq_held(rq);

	update_rq_clock(rq);
	current->sched_class->update_curr(rq);
}

/**
 * tense_settle() - charge the running task up to now
 *
 * For any context but with a runqueue's lock or a pi_lock held.
 */
void tense_settle(void)
{
	struct rq_flags rf;
	unsigned long flags;
	struct rq *rq;

	local_irq_save(flags);
	rq = this_rq();
	rq_lock(rq, &rf);
	settle(rq);
	rq_unlock(rq, &rf);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(tense_settle);

/**
 * tense_at_return() - run something before the running task is in user mode
 * @work: what; no lock of the kernel's is held then
 *
 * May be called with the runqueue locked.
 *
 * Return: 0, or -ESRCH if the task is past exiting.
 */
int tense_at_return(struct callback_head *work)
{
	return task_work_add(current, work, TWA_RESUME);
}
EXPORT_SYMBOL_GPL(tense_at_return);

static bool is_work(struct callback_head *work, void *data)
{
	return work == data;
}

/**
 * tense_not_at_return() - the running task takes back tense_at_return()
 * @work: what; not to be called from such work, but whether or not it has run
 */
void tense_not_at_return(struct callback_head *work)
{
	task_work_cancel_match(current, is_work, work);
}
EXPORT_SYMBOL_GPL(tense_not_at_return);

/**
 * tense_attach() - the calling task gets a part
 * @t: the part; its owner is tense_ops->leave() from now on
 *
 * Return: 0, or -ENODEV if the task is not in the fair class, the only one
 * that charges.
 */
int tense_attach(struct tense_task *t)
{
	int err = -ENODEV;
	struct rq_flags rf;
	struct rq *rq;

	local_irq_disable();
	rq = this_rq();
	rq_lock(rq, &rf);
	if (current->sched_class == &fair_sched_class) {
		__module_get(tense_ops->owner);
		settle(rq);
		current->tense = t;
		current->tense_accounted = current->se.sum_exec_runtime;
		tense_ops->enqueue(t, cpu_of(rq));
		err = 0;
	}
	rq_unlock(rq, &rf);
	local_irq_enable();
	return err;
}
EXPORT_SYMBOL_GPL(tense_attach);

/**
 * tense_detach() - the calling task gives its part back
 *
 * Called for a task with a part only, and may sleep.
 */
void tense_detach(void)
{
	const struct tense_ops *ops = tense_ops;
	struct tense_task *t;
	struct rq_flags rf;
	struct rq *rq;

	local_irq_disable();
	rq = this_rq();
	rq_lock(rq, &rf);
	settle(rq);
	t = current->tense;
	current->tense = NULL;
	rq_unlock(rq, &rf);
	local_irq_enable();

	/* A sleep to be restarted would be the module's code as well. */
	current->restart_block.fn = do_no_restart_syscall;
	ops->leave(t);
	/* Here and not in ops->leave(), whose code may be gone after this. */
	module_put(ops->owner);
}
EXPORT_SYMBOL_GPL(tense_detach);

u64 __tense_charge(struct task_struct *p, u64 delta)
{
	p->tense_charged = tense_ops->charge(p->tense, delta);
	return p->tense_charged;
}

void __tense_enqueue(struct task_struct *p)
{
	lockdep_assert_rq_held(task_rq(p));
	tense_ops->enqueue(p->tense, task_cpu(p));
}

void __tense_dequeue(struct task_struct *p)
{
	lockdep_assert_rq_held(task_rq(p));
	tense_ops->dequeue(p->tense);
}

bool __tense_hold(struct task_struct *p)
{
	lockdep_assert_held(&p->pi_lock);
	return tense_ops->hold(p->tense);
}

void __tense_switch(struct task_struct *prev, struct task_struct *next)
{
	lockdep_assert_rq_held(this_rq());
	tense_ops->switched(prev->tense, next->tense);
}

void __tense_tick(struct task_struct *p)
{
	lockdep_assert_rq_held(task_rq(p));
	tense_ops->tick(p->tense);
}

int __tense_fork(struct task_struct *p)
{
	p->tense = tense_ops->fork(current->tense, p);
	if (!p->tense)
		return -ENOMEM;
	__module_get(tense_ops->owner);
	return 0;
}

void __tense_cancel_fork(struct task_struct *p)
{
	const struct tense_ops *ops = tense_ops;

	ops->leave(p->tense);
	p->tense = NULL;
	module_put(ops->owner);
}
