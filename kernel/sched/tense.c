// SPDX-License-Identifier: GPL-2.0
/*
 * Tense: between the scheduler and the module that keeps virtual time.
 *
 * This file does not know virtual time. It contains the code that needs the
 * scheduler's internals, or must stay in memory while the module is removed.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/restart_block.h>
#include <linux/sched/cputime.h>
#include <linux/task_work.h>
#include <linux/tense.h>

#include "sched.h"
#include "tense-fair.h"

DEFINE_STATIC_KEY_FALSE(tense_key);

/* Set while this CPU runs soft interrupts at the end of a hard one. */
DEFINE_PER_CPU(bool, tense_softirq);

/* Protects registration only: a task with a part pins the module. */
static DEFINE_MUTEX(tense_mutex);
const struct tense_ops *tense_ops;

/**
 * tense_register() - let a module keep virtual time
 * @ops: its hooks
 *
 * Return: 0, or -EBUSY if another module is registered.
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
 * tense_unregister() - remove the module's hooks
 * @ops: its hooks
 *
 * No task may have a part any more. In a module's exit function, the references
 * that the tasks hold guarantee this. Afterwards no CPU runs a hook.
 */
void tense_unregister(const struct tense_ops *ops)
{
	mutex_lock(&tense_mutex);
	if (!WARN_ON_ONCE(tense_ops != ops)) {
		static_branch_disable(&tense_key);
		/*
		 * The hooks run with interrupts disabled or for a task with a
		 * part.
		 */
		synchronize_rcu();
		WRITE_ONCE(tense_ops, NULL);
	}
	mutex_unlock(&tense_mutex);
}
EXPORT_SYMBOL_GPL(tense_unregister);

/* Caller holds the lock of this CPU's run queue. */
static void settle(struct rq *rq)
{
	lockdep_assert_rq_held(rq);

	update_rq_clock(rq);
	current->sched_class->update_curr(rq);
}

/**
 * tense_settle() - charge the running task up to now
 *
 * Works in any context. Caller holds no run queue lock.
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
 * tense_at_return() - run work before a task returns to user mode
 * @p: the running task, or one that sleeps and whose pi_lock the caller holds
 * @work: the work; the task holds no lock of the kernel when it runs
 *
 * Caller may hold the run queue lock.
 *
 * Return: 0, or -ESRCH if the task is past exiting.
 */
int tense_at_return(struct task_struct *p, struct callback_head *work)
{
	return task_work_add(p, work, TWA_RESUME);
}
EXPORT_SYMBOL_GPL(tense_at_return);

static bool is_work(struct callback_head *work, void *data)
{
	return work == data;
}

/**
 * tense_not_at_return() - take back tense_at_return() of the running task
 * @work: the work, whether or not it has run; not called from such work
 */
void tense_not_at_return(struct callback_head *work)
{
	task_work_cancel_match(current, is_work, work);
}
EXPORT_SYMBOL_GPL(tense_not_at_return);

static struct tense_place place_in_fair(struct task_struct *p)
{
	struct cfs_rq *cfs_rq = fair_queue(&p->se);

	return (struct tense_place){
		.queue = cfs_rq,
		.running = fair_running(cfs_rq),
		.weight = scale_load_down(fair_weight(&p->se)),
		.vruntime = p->se.vruntime,
		.min_vruntime = fair_reached(cfs_rq),
	};
}

/**
 * tense_place_of() - the place of a task in its queue
 * @p: the task
 *
 * Caller holds the task's run queue lock.
 *
 * Return: the place, without a queue if another class runs the task, or the limit of
 * a group has taken it out of its queue.
 */
struct tense_place tense_place_of(struct task_struct *p)
{
	lockdep_assert_rq_held(task_rq(p));

	if (p->sched_class != &fair_sched_class || fair_is_stopped(p))
		return (struct tense_place){ };
	return place_in_fair(p);
}
EXPORT_SYMBOL_GPL(tense_place_of);

/**
 * tense_is_fair() - whether the fair class runs a task, the only one that charges
 * @p: the task. Its class may change meanwhile unless the caller is the task, or
 *	holds its run queue lock.
 *
 * Return: false in another class, or at a priority that another task lends.
 */
bool tense_is_fair(const struct task_struct *p)
{
	return READ_ONCE(p->sched_class) == &fair_sched_class;
}
EXPORT_SYMBOL_GPL(tense_is_fair);

static void enqueue(struct task_struct *p)
{
	struct tense_place place = tense_place_of(p);

	tense_ops->enqueue(p->tense, task_cpu(p), &place);
}

/**
 * tense_attach() - give the calling task a part
 * @t: the part; tense_ops->leave() owns it from now on
 *
 * Return: 0, or -ENODEV if the task is not in the fair class, the only one that
 * charges.
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
		enqueue(current);
		err = 0;
	}
	rq_unlock(rq, &rf);
	local_irq_enable();
	return err;
}
EXPORT_SYMBOL_GPL(tense_attach);

/**
 * tense_detach() - take the calling task's part away
 *
 * Caller is a task with a part. May sleep.
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
	ops->dequeue(t, false);
	current->tense = NULL;
	rq_unlock(rq, &rf);
	local_irq_enable();

	/* A sleep to be restarted would run the module's code. */
	current->restart_block.fn = do_no_restart_syscall;
	ops->leave(t);
	/* Not in ops->leave(), whose code may be gone after this. */
	module_put(ops->owner);
}
EXPORT_SYMBOL_GPL(tense_detach);

/* Whether the task has its queue for itself, at the weight that nearly all have. */
static bool is_alone(struct sched_entity *se)
{
	return fair_running(fair_queue(se)) == 1 && fair_weight(se) == NICE_0_LOAD;
}

static struct tense_charge charge_task(struct task_struct *p, u64 delta)
{
	struct tense_charge c;

	lockdep_assert_rq_held(task_rq(p));

	c = tense_ops->charge(p->tense, delta, is_alone(&p->se));
	p->tense_charged = c.cpu_time;
	fair_turn_add(p, delta, c.share);
	return c;
}

/**
 * tense_in_interrupt() - whether this CPU does interrupt work of no task
 *
 * Return: true in a hard interrupt, and in the soft ones that run at its end.
 */
bool tense_in_interrupt(void)
{
	return in_hardirq() || this_cpu_read(tense_softirq);
}
EXPORT_SYMBOL_GPL(tense_in_interrupt);

/*
 * Returns the group above a queue; NULL above all groups. Caller holds the
 * queue's lock.
 */
static struct sched_entity *group_of(const struct cfs_rq *cfs_rq)
{
#ifdef CONFIG_FAIR_GROUP_SCHED
	lockdep_assert_rq_held(cfs_rq->rq);
	return fair_group(cfs_rq);
#else
	return NULL;
#endif
}

/**
 * tense_group_of() - a queue as a group in the queue above
 * @queue: from struct tense_place. A task is in it, or in a queue below.
 *
 * Caller holds the run queue lock.
 *
 * Return: the queue's group.
 */
struct tense_group tense_group_of(const void *queue)
{
	struct cfs_rq *cfs_rq = (struct cfs_rq *)queue;
	struct tense_group group = {
		.running = fair_running(cfs_rq),
		.min_vruntime = fair_reached(cfs_rq),
	};
#ifdef CONFIG_FAIR_GROUP_SCHED
	const struct sched_entity *se = group_of(cfs_rq);

	if (se) {
		group.depth = se->depth + 1;
		group.above = se->cfs_rq;
		group.weight = scale_load_down(se->load.weight);
		group.vruntime = se->vruntime;
	}
#endif
	group.limited = fair_limited(cfs_rq);
	return group;
}
EXPORT_SYMBOL_GPL(tense_group_of);

/**
 * tense_group_owes() - change the length of a group's turn
 * @queue: the group's queue
 * @ns: the turn is over sooner by so many ns; later if negative. The next
 *	charge of the group applies it. The group's charge for the last run may
 *	have come before or may still come.
 *
 * Caller holds the run queue lock.
 */
void tense_group_owes(const void *queue, s64 ns)
{
	group_of(queue)->tense_owed += ns;
}
EXPORT_SYMBOL_GPL(tense_group_owes);

static struct task_struct *running_on(struct rq *rq)
{
	return rcu_dereference_protected(rq->curr,
					 lockdep_is_held(__rq_lockp(rq)));
}

/*
 * Charges the running task before its group's queue, or one above, changes: the
 * length of its turn depends on the others that waited.
 */
static void charge_below(struct rq *rq)
{
	struct task_struct *curr = running_on(rq);

	if (tense_has(curr) && curr->sched_class == &fair_sched_class)
		curr->sched_class->update_curr(rq);
}

/*
 * An earlier reduction may exceed this charge. Keeps the rest of the debt,
 * because the module expects all of it in the group's vruntime.
 */
static u64 group_share(struct sched_entity *se, u64 delta)
{
	s64 owed, share;

	charge_below(rq_of(cfs_rq_of(se)));
	owed = delta + se->tense_owed;
	share = clamp_t(s64, owed, 0, TENSE_SHARE_MAX);
	se->tense_owed = owed - share;
	return share;
}

/* At the weight that nearly all tasks have, fair time is time. */
static u64 in_fair_time(struct sched_entity *se, u64 ns,
			u64 (*fair)(u64 delta, struct sched_entity *se))
{
	return fair_weight(se) == NICE_0_LOAD ? ns : fair(ns, se);
}

/* Only the fair class calls it, see tense_charge(). */
void __tense_charge(struct sched_entity *se, u64 delta,
		    u64 (*fair)(u64 delta, struct sched_entity *se))
{
	struct tense_charge c = { .cpu_time = delta };

	if (entity_is_task(se))
		c = charge_task(task_of(se), delta);
	else
		c.share = group_share(se, delta);
	se->sum_exec_runtime += c.cpu_time;
	if (c.share != delta)
		se->vruntime += in_fair_time(se, c.share, fair) -
				in_fair_time(se, delta, fair);
}

void __tense_enqueue(struct task_struct *p)
{
	enqueue(p);
}

/* Some classes have charged the task before this, others do so later. */
void __tense_dequeue(struct task_struct *p, bool sleep)
{
	lockdep_assert_rq_held(task_rq(p));
	if (p == running_on(task_rq(p)))
		p->sched_class->update_curr(task_rq(p));
	tense_ops->dequeue(p->tense, sleep);
}

bool __tense_hold(struct task_struct *p)
{
	lockdep_assert_held(&p->pi_lock);
	return tense_ops->hold(p->tense);
}

void __tense_switch(struct task_struct *prev, struct task_struct *next)
{
	lockdep_assert_rq_held(this_rq());
	fair_turn_begin(next);
	tense_ops->switched(prev->tense, next->tense);
}

void __tense_tick(struct task_struct *p)
{
	lockdep_assert_rq_held(task_rq(p));
	tense_ops->tick(p->tense);
}

int __tense_fork(struct task_struct *p)
{
	struct tense_task *t = tense_ops->fork(current->tense, p);

	if (IS_ERR(t))
		return PTR_ERR(t);
	p->tense = t;
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
