// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks by which the scheduler reports events to the module: a charge, a task
 * that becomes runnable, blocks, wakes, or is switched to, a tick, and a fork. Each
 * hook passes the event to the virtual clocks.
 *
 * charge.c has the hook of charges. The scheduler calls hook_hold() with the task's
 * pi_lock held, hook_fork() without a lock, and the other hooks of this file with the
 * run queue lock held. struct tense_ops says it for the hooks of other files.
 *
 * tense_task_lock() clears t->plain, and the next charge then goes the long way. A task
 * that blocks or wakes changes nothing that its next charge depends on. So these hooks
 * take t->lock directly.
 */
#include <linux/sched/signal.h>
#include <linux/tense-samples.h>

#include "tense.h"

/* In real ns. A switch takes longer only if the host stands still. */
#define SWITCH_MAX	((u64)20000)

/* Another wake-up came first: drop the deadline of the hold. */
static void no_longer_held(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;

	if (READ_ONCE(t->wait) != TENSE_HELD)
		return;
	raw_spin_lock(&exp->lock);
	if (t->wait == TENSE_HELD) {
		tense_disarm(exp, &t->v.deadline);
		WRITE_ONCE(t->wait, TENSE_RUNS);
	}
	raw_spin_unlock(&exp->lock);
}

static void set_outside(struct tense_task *t, bool outside)
{
	if (READ_ONCE(t->outside) == outside)
		return;
	raw_spin_lock(&t->exp->lock);
	tense_set_outside(t, outside);
	raw_spin_unlock(&t->exp->lock);
}

static void hook_enqueue(struct tense_task *t, int cpu,
			 const struct tense_place *place)
{
	struct tense_experiment *exp = t->exp;

	tense_ledger_enter(&t->entity, &per_cpu_ptr(exp->cpu, cpu)->ledgers, place);
	no_longer_held(t);
	raw_spin_lock(&t->lock);
	if (!t->started) {
		t->pid = get_pid(t->task->thread_pid);
		t->tgid = get_pid(t->task->signal->pids[PIDTYPE_TGID]);
		tense_start(t);
		/* Pairs with fill_threads(). */
		smp_store_release(&t->started, true);
	}
	/* If the task ran in another class than the fair one, no charge used this up. */
	t->work_ns = 0;
	vclock_join(&exp->vc, &t->v, cpu, tense_real_now());
	raw_spin_unlock(&t->lock);
	set_outside(t, false);
	tense_gate_moved(t);
	/* The CPU from which the task came may have held GVT back. */
	if (vclock_due(&exp->vc))
		tense_look(exp);
}

static void hook_dequeue(struct tense_task *t, bool sleep)
{
	struct tense_experiment *exp = t->exp;

	tense_ledger_leave(&t->entity);
	if (!sleep)
		return;
	WRITE_ONCE(t->for_mutex, compat_waits_for_mutex(t->task));
	set_outside(t, READ_ONCE(exp->vc.skip) && tense_waits_outside(t));
	/* R6: a gated task keeps its CPU active. */
	if (t->in_gate)
		return;
	raw_spin_lock(&t->lock);
	tense_take_shown(t);
	vclock_block(&exp->vc, &t->v, tense_real_now());
	tense_block_begins(t);
	raw_spin_unlock(&t->lock);
}

/* Returns the running task if it wakes another task of the experiment. */
static struct tense_task *waker_in(struct tense_experiment *exp)
{
	struct tense_task *waker = current->tense;

	if (!waker || waker->exp != exp || tense_in_interrupt() ||
	    waker->v.cpu < 0)
		return NULL;
	return waker;
}

/* R3, R9: @t gets the waker's time and the latest reading on the waker's CPU. */
static void ready_by(struct tense_task *t, struct tense_task *waker)
{
	struct vclock *vc = &t->exp->vc;

	raw_spin_lock(&waker->lock);
	tense_take_shown(waker);
	raw_spin_unlock(&waker->lock);
	raw_spin_lock(&t->lock);
	vclock_ready_by(vc, &t->v, &waker->v);
	vclock_shown_by(vc, &t->v, waker->v.cpu);
	raw_spin_unlock(&t->lock);
}

/* R3: a child begins when its parent has made it. Until then it has not been blocked. */
static void begin_by(struct tense_task *t)
{
	raw_spin_lock(&t->lock);
	t->v.blocked_at = t->v.ready;
	raw_spin_unlock(&t->lock);
}

/*
 * R3: holds only a task whose wait a signal may end, which is a wait of the
 * program's own. A task that sleeps uninterruptibly may hold what other tasks wait
 * for. So may one that waited for a mutex: who unlocked it may have made it the owner.
 */
static bool may_hold(const struct tense_task *t)
{
	unsigned int state = READ_ONCE(t->task->__state);

	return t->wait == TENSE_RUNS && !READ_ONCE(t->for_mutex) &&
	       (state & ~TASK_FREEZABLE) == TASK_INTERRUPTIBLE &&
	       !signal_pending(t->task);
}

/*
 * A wake-up may come shortly before hook_dequeue() reports that the task blocks.
 * Later the wake-up waits for the end of the task's schedule() anyway.
 */
static void wait_for_dequeue(const struct tense_task *t)
{
#ifdef CONFIG_SMP
	smp_rmb();	/* on_rq, which the caller has read, before on_cpu */
	smp_cond_load_acquire(&t->task->on_cpu, !VAL);
#endif
}

/* The outside woke @t. Returns true if GVT has not yet reached its ready time. */
static bool hold_for_gvt(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	bool hold = true, ahead;

	raw_spin_lock(&exp->lock);
	if (t->wait == TENSE_HELD && !signal_pending(t->task))
		goto out;
	raw_spin_lock(&t->lock);
	ahead = vclock_ready_outside(&exp->vc, &t->v, tense_real_now());
	raw_spin_unlock(&t->lock);
	hold = ahead && may_hold(t);
	if (hold) {
		vclock_arm(&exp->vc, &t->v.deadline, t->v.ready);
		WRITE_ONCE(t->wait, TENSE_HELD);
	}
out:
	/* While a woken task is not held and has not run, no idle time is skipped. */
	tense_set_outside(t, !hold);
	raw_spin_unlock(&exp->lock);
	tense_block_ends(t, NULL, 0);
	if (hold)
		tense_kick(exp);
	return hold;
}

static bool hook_hold(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	struct tense_task *waker;
	u64 when;

	wait_for_dequeue(t);
	if (tense_firing(exp, &when)) {
		tense_task_lock(t);
		t->v.ready = max(t->v.blocked_at, when);
		raw_spin_unlock(&t->lock);
		tense_block_ends(t, NULL, TENSE_SAMPLE_TIMER);
	} else {
		waker = waker_in(exp);
		/*
		 * Settle, so that ready times are not those of the last tick. With one
		 * CPU this is not needed: the waker's next charge also moves the clock
		 * of the other task, before that one runs.
		 */
		if (current->tense && !(waker && exp->vc.cpus == 1))
			tense_settle();
		if (!waker)
			return hold_for_gvt(t);
		ready_by(t, waker);
		if (READ_ONCE(t->started))
			tense_block_ends(t, waker, 0);
		else
			begin_by(t);
	}
	/* Skip no time until the task runs. */
	if (READ_ONCE(exp->vc.skip))
		set_outside(t, true);
	return false;
}

static void begin(struct tense_task *t)
{
	tense_task_lock(t);
	if (t->in_call)
		t->work_since = tense_real_now();
	tense_stretch_begin(t, tense_counter());
	tense_page_update(t);
	raw_spin_unlock(&t->lock);
}

/* R9: the next task on this CPU must not read an earlier time than @t did. */
static void end(struct tense_task *t)
{
	tense_task_lock(t);
	tense_take_shown(t);
	raw_spin_unlock(&t->lock);
}

/* R13: in a survey, each switch sets a timer in the next task's time. Refunds that. */
static void refund_switch(struct tense_task *next, u64 since)
{
	tense_task_lock(next);
	if (!tense_is_at_work(next) && tense_is_fair(next->task))
		tense_refund(next, min(tense_real_now() - since, SWITCH_MAX));
	tense_page_update(next);
	raw_spin_unlock(&next->lock);
}

static void hook_switch(struct tense_task *prev, struct tense_task *next)
{
	u64 since = next && READ_ONCE(next->exp->survey) ? tense_real_now() : 0;

	if (prev && prev->area)
		end(prev);
	if (prev)
		tense_sampler_stops(prev);
	if (prev && (!next || prev->exp != next->exp))
		tense_rearm(prev->exp, NULL);
	if (next) {
		if (next->area || next->in_call)
			begin(next);
		tense_rearm(next->exp, next);
	}
	if (since)
		refund_switch(next, since);
}

static void hook_tick(struct tense_task *t)
{
	tense_rearm(t->exp, t);
}

static struct tense_task *hook_fork(struct tense_task *parent,
				    struct task_struct *child)
{
	struct tense_experiment *exp = parent->exp;
	struct tense_task *t;

	tense_settle();
	t = tense_task_alloc(exp, child);
	if (IS_ERR(t))
		return t;
	if (tense_probe_fork(t, parent)) {
		tense_leave(t);
		return ERR_PTR(-ENOMEM);
	}
	tense_task_lock_irq(parent);
	/* The child inherits the percent: take changes of it from the parent's ring. */
	tense_take_records(parent);
	raw_spin_lock_nested(&t->lock, SINGLE_DEPTH_NESTING);
	vclock_ready_by(&exp->vc, &t->v, &parent->v);
	t->v.seen = max(t->v.ready, vclock_now(&exp->vc, &parent->v));
	/* R9: the child's memory may hold a reading of its parent. */
	t->v.shown = vclock_floor(&exp->vc, &parent->v);
	t->v.blocked_at = t->v.ready;
	t->v.percent = parent->v.percent;
	t->v.fine = parent->v.fine;
	t->slot = parent->slot;
	t->outer = parent->outer;
	t->mm = parent->mm;
	tense_entity_init(&t->entity, &parent->entity);
	raw_spin_unlock(&t->lock);
	raw_spin_unlock_irq(&parent->lock);
	return t;
}

const struct tense_ops tense_hooks = {
	.owner = THIS_MODULE,
	.charge = tense_charge_hook,
	.enqueue = hook_enqueue,
	.dequeue = hook_dequeue,
	.hold = hook_hold,
	.switched = hook_switch,
	.tick = hook_tick,
	.fork = hook_fork,
	.leave = tense_leave,
	.now = tense_now,
	.time = tense_time,
	.timer_start = tense_wait_start,
	.timer_cancel = tense_wait_cancel,
	.timer_now = tense_wait_now,
	.clock_set = tense_clock_was_set,
};
