// SPDX-License-Identifier: GPL-2.0
/* What the scheduler tells, told to the virtual clocks. */
#include <linux/sched/signal.h>

#include "tense.h"
#include "trace.h"

/* R6: the running task stops when it next returns to user mode. */
static void gate_if_ahead(struct tense_task *t)
{
	lockdep_assert_held(&t->exp->lock);

	if (t->at_gate || !vclock_ahead(&t->exp->vc, &t->v))
		return;
	init_task_work(&t->gate_work, tense_gate);
	t->at_gate = !tense_at_return(&t->gate_work);
}

static u64 hook_charge(struct tense_task *t, u64 delta)
{
	struct tense_experiment *exp = t->exp;
	u64 charged = 0, lvt, gvt;
	int cpu;

	raw_spin_lock(&exp->lock);
	cpu = t->v.cpu;
	if (cpu < 0) {
		/* On its way out of the CPU, the rest is the scheduler's. */
		raw_spin_unlock(&exp->lock);
		return delta;
	}
	if (t->in_call) {
		t->overhead += delta;
		tense_area_begin(t, tense_counter());
	} else {
		charged = tense_area_charge(t, delta);
	}
	if (t->move)
		charged += tense_jump(t);
	if (t->task == current)
		gate_if_ahead(t);
	tense_area_tell(t);
	lvt = exp->vc.cpu[cpu].lvt.ns;
	gvt = exp->vc.gvt;
	raw_spin_unlock(&exp->lock);

	trace_tense_charge(exp->id, t->task->pid, cpu, delta, charged, lvt,
			   gvt);
	return charged;
}

static void hook_enqueue(struct tense_task *t, int cpu)
{
	struct tense_experiment *exp = t->exp;

	raw_spin_lock(&exp->lock);
	if (!t->started) {
		t->started = true;
		tense_start(t);
		t->pid = get_pid(t->task->thread_pid);
		t->tgid = get_pid(t->task->signal->pids[PIDTYPE_TGID]);
	}
	if (t->wait == TENSE_HELD) {
		vclock_disarm(&exp->vc, &t->v.deadline);
		t->wait = TENSE_RUNS;
	}
	vclock_join(&exp->vc, &t->v, cpu, tense_real_now());
	tense_set_outside(t, false);
	raw_spin_unlock(&exp->lock);
}

static void hook_dequeue(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;

	raw_spin_lock(&exp->lock);
	tense_set_outside(t, exp->vc.skip && tense_waits_outside(exp));
	/* A gated task keeps its CPU active: GVT is to wait for nobody else. */
	if (t->wait != TENSE_GATED)
		vclock_block(&exp->vc, &t->v, tense_real_now());
	raw_spin_unlock(&exp->lock);
}

/* Whether the wake-up comes from what a task of the experiment does. */
static struct tense_task *waker_in(struct tense_experiment *exp)
{
	struct tense_task *waker = current->tense;

	if (!waker || waker->exp != exp || in_hardirq() || waker->v.cpu < 0)
		return NULL;
	return waker;
}

/*
 * R3. Only a wait that a signal may end, and thus a program's own, is drawn
 * out: whoever sleeps uninterruptibly may hold what others wait for.
 */
static bool may_hold(const struct tense_task *t)
{
	unsigned int state = READ_ONCE(t->task->__state);

	return t->wait == TENSE_RUNS &&
	       (state & ~TASK_FREEZABLE) == TASK_INTERRUPTIBLE &&
	       !signal_pending(t->task);
}

/*
 * A task that blocks can be woken a little before hook_dequeue() says so. The
 * wake-up waits for the end of its schedule() in any case, only later.
 */
static void wait_for_dequeue(const struct tense_task *t)
{
#ifdef CONFIG_SMP
	smp_rmb();	/* on_rq, which the caller has read, before on_cpu */
	smp_cond_load_acquire(&t->task->on_cpu, !VAL);
#endif
}

static bool hook_hold(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	struct tense_task *waker;
	bool hold = false, ahead;
	u64 when;

	wait_for_dequeue(t);
	/* Ready times are those of now, not of the last tick. */
	if (current->tense)
		tense_settle();

	raw_spin_lock(&exp->lock);
	waker = waker_in(exp);
	if (tense_firing(exp, &when)) {
		t->v.ready = max(t->v.blocked_at, when);
	} else if (waker) {
		vclock_ready_by(&exp->vc, &t->v, &waker->v);
	} else if (t->wait == TENSE_HELD && !signal_pending(t->task)) {
		hold = true;
	} else {
		ahead = vclock_ready_outside(&exp->vc, &t->v, tense_real_now());
		if (ahead && may_hold(t)) {
			vclock_arm(&exp->vc, &t->v.deadline, t->v.ready);
			t->wait = TENSE_HELD;
			hold = true;
		}
	}
	/* What it waited for has come; no time is skipped until it runs. */
	tense_set_outside(t, !hold);
	raw_spin_unlock(&exp->lock);
	if (hold)
		tense_kick(exp);
	return hold;
}

static void begin(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;

	raw_spin_lock(&exp->lock);
	tense_area_begin(t, tense_counter());
	tense_area_tell(t);
	raw_spin_unlock(&exp->lock);
}

static void hook_switch(struct tense_task *prev, struct tense_task *next)
{
	if (prev && (!next || prev->exp != next->exp))
		tense_rearm(prev->exp, NULL);
	if (next) {
		if (next->area)
			begin(next);
		tense_rearm(next->exp, next);
	}
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

	/* Before its percent is passed on: changes may be in its ring. */
	tense_settle();
	t = tense_task_alloc(exp, child, parent->v.percent);
	if (!t)
		return NULL;
	if (tense_probe_fork(t, parent)) {
		tense_leave(t);
		return NULL;
	}
	raw_spin_lock_irq(&exp->lock);
	vclock_ready_by(&exp->vc, &t->v, &parent->v);
	t->v.seen = t->v.ready;
	t->v.blocked_at = t->v.ready;
	t->v.fine = parent->v.fine;
	t->slot = parent->slot;
	t->outer = parent->outer;
	t->mm = parent->mm;
	raw_spin_unlock_irq(&exp->lock);
	return t;
}

const struct tense_ops tense_hooks = {
	.owner = THIS_MODULE,
	.charge = hook_charge,
	.enqueue = hook_enqueue,
	.dequeue = hook_dequeue,
	.hold = hook_hold,
	.switched = hook_switch,
	.tick = hook_tick,
	.fork = hook_fork,
	.leave = tense_leave,
	.now = tense_now,
	.timer_start = tense_wait_start,
	.timer_cancel = tense_wait_cancel,
	.timer_now = tense_wait_now,
	.clock_set = tense_clock_was_set,
};
