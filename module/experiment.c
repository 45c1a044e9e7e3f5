// SPDX-License-Identifier: GPL-2.0
/* The life of experiments and of their tasks, and what is told of them. */
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "tense.h"

static_assert(VCLOCK_PERCENT_MAX == TENSE_PERCENT_MAX);
static_assert(VCLOCK_FINE == TENSE_FINE);
static_assert(VCLOCK_PERCENT_REAL == TENSE_PERCENT_REAL);
static_assert(VCLOCK_TIME_MAX == TENSE_TIME_MAX);

static void experiment_free(struct tense_experiment *exp)
{
	free_percpu(exp->cpu);
	kvfree(exp->clocks);
	kvfree(exp->tree);
	kfree_rcu(exp, rcu);
}

static struct tense_experiment *experiment_alloc(void)
{
	static atomic_t last_id = ATOMIC_INIT(0);
	struct tense_experiment *exp;

	exp = kzalloc(sizeof(*exp), GFP_KERNEL_ACCOUNT);
	if (!exp)
		return NULL;
	exp->cpu = alloc_percpu(struct tense_cpu);
	exp->clocks = kvcalloc(nr_cpu_ids, sizeof(*exp->clocks),
			       GFP_KERNEL_ACCOUNT);
	exp->tree = kvcalloc(vclock_tree_size(nr_cpu_ids), sizeof(*exp->tree),
			     GFP_KERNEL_ACCOUNT);
	if (!exp->cpu || !exp->clocks || !exp->tree) {
		experiment_free(exp);
		return NULL;
	}
	raw_spin_lock_init(&exp->lock);
	INIT_LIST_HEAD(&exp->tasks);
	INIT_LIST_HEAD(&exp->exited);
	refcount_set(&exp->refs, 1);
	exp->id = atomic_inc_return(&last_id);
	mutex_init(&exp->probes_mutex);
	INIT_LIST_HEAD(&exp->probes);
	tense_own_init(exp);
	exp->started = tense_real_now();
	vclock_init(&exp->vc, exp->clocks, exp->tree, nr_cpu_ids, tense_window,
		    exp->started);
	tense_timers_init(exp);
	tense_waits_init(exp);
	tense_clocks_init(exp);
	return exp;
}

static void task_free(struct tense_task *t)
{
	put_pid(t->pid);
	put_pid(t->tgid);
	kfree(t->frames);
	/* Others may be looking for an experiment to join; see find_in(). */
	kfree_rcu(t, rcu);
}

/* May sleep. */
static void experiment_put(struct tense_experiment *exp)
{
	struct tense_task *t, *next;

	if (!refcount_dec_and_test(&exp->refs))
		return;
	tense_probes_remove(exp);
	tense_clocks_end(exp);
	tense_timers_stop(exp);
	tense_waits_end(exp);
	list_for_each_entry_safe(t, next, &exp->exited, node)
		task_free(t);
	experiment_free(exp);
}

/*
 * A part for @task, in the experiment's list and with a reference to it, to
 * be given back by tense_leave(). NULL if there is no memory. May sleep.
 */
struct tense_task *tense_task_alloc(struct tense_experiment *exp,
				    struct task_struct *task, u32 percent)
{
	struct tense_task *t;

	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		return NULL;
	refcount_inc(&exp->refs);
	t->exp = exp;
	t->task = task;

	raw_spin_lock_irq(&exp->lock);
	vclock_task_init(&t->v, percent,
			 vclock_gvt(&exp->vc, tense_real_now()));
	list_add_tail(&t->node, &exp->tasks);
	exp->tasks_now++;
	exp->tasks_total++;
	raw_spin_unlock_irq(&exp->lock);
	return t;
}

/* Keeps the last ones that left to be read; returns one to forget, or NULL. */
static struct tense_task *remember(struct tense_experiment *exp,
				   struct tense_task *t)
{
	lockdep_assert_held(&exp->lock);

	if (!t->started) {
		exp->tasks_total--;
		return t;
	}
	exp->departed_charged += t->v.charged.ns;
	exp->departed_ran += t->v.ran;
	exp->departed_gated += t->gated;
	exp->departed_overhead += t->overhead;
	list_add_tail(&t->node, &exp->exited);
	if (++exp->exited_now <= TENSE_EXITED_MAX)
		return NULL;
	exp->exited_now--;
	t = list_first_entry(&exp->exited, struct tense_task, node);
	list_del(&t->node);
	return t;
}

/**
 * tense_leave() - a task's part is no longer needed
 * @t: the part, which no task_struct points to any more
 *
 * May sleep.
 */
void tense_leave(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	struct tense_task *forgotten;
	struct tense_area *area;

	/* Nobody queues that again: no task_struct points to the part. */
	if (t->at_gate)
		tense_not_at_return(&t->gate_work);
	/* Takes a lock that interrupts do not respect. */
	get_task_comm(t->comm, t->task);
	raw_spin_lock_irq(&exp->lock);
	tense_set_outside(t, false);
	vclock_leave(&exp->vc, &t->v, tense_real_now());
	area = tense_area_close(t);
	list_del(&t->node);
	exp->tasks_now--;
	forgotten = remember(exp, t);
	raw_spin_unlock_irq(&exp->lock);

	/* GVT may have risen over a deadline of the others'. */
	tense_kick(exp);
	tense_area_free(area);
	if (forgotten)
		task_free(forgotten);
	experiment_put(exp);
}

/* The experiment that some thread of @p's process is in, with a reference. */
static struct tense_experiment *find_in(struct task_struct *p)
{
	struct tense_experiment *exp;
	struct task_struct *thread;
	struct tense_task *t;

	for_each_thread(p, thread) {
		t = READ_ONCE(thread->tense);
		exp = t ? t->exp : NULL;
		if (exp && refcount_inc_not_zero(&exp->refs))
			return exp;
	}
	return NULL;
}

static struct tense_experiment *find_or_alloc(void)
{
	struct tense_experiment *exp;

	rcu_read_lock();
	exp = find_in(current);
	if (!exp)
		exp = find_in(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	return exp ?: experiment_alloc();
}

/**
 * tense_join() - the calling task, which is in no experiment, joins one
 * @handle: number of the one by which it does
 *
 * Return: 0, -ENOMEM or -ENODEV.
 */
int tense_join(u64 handle)
{
	struct tense_experiment *exp = find_or_alloc();
	struct tense_task *t;
	int err;

	if (!exp)
		return -ENOMEM;
	t = tense_task_alloc(exp, current, TENSE_PERCENT_REAL);
	experiment_put(exp);
	if (!t)
		return -ENOMEM;
	t->handle = handle;
	err = tense_attach(t);
	if (err)
		tense_leave(t);
	return err;
}

static void fill_stats(struct tense_task *t, struct tense_stats *s)
{
	struct tense_experiment *exp = t->exp;
	struct tense_task *i;

	lockdep_assert_held(&exp->lock);

	vclock_advance(&exp->vc, tense_real_now());
	*s = (struct tense_stats) {
		.version = TENSE_STATS_VERSION,
		.size = sizeof(*s),
		.thread_size = sizeof(struct tense_thread),
		.threads = exp->exited_now,
		.gvt = exp->vc.gvt,
		.lvt = vclock_now(&exp->vc, &t->v),
		.window = exp->vc.window,
		.skew = exp->vc.skew,
		.elapsed = tense_real_now() - exp->started,
		.charged = exp->departed_charged,
		.ran = exp->departed_ran,
		.gated = exp->departed_gated,
		.overhead = exp->departed_overhead,
		.call = tense_way_cost(exp, TENSE_WAY_CALL),
		.deadlines = exp->fired,
		.tasks = exp->tasks_now,
		.tasks_total = exp->tasks_total,
		.percent = t->v.percent,
		.flags = t->handle ? TENSE_STATS_OWNER : 0,
	};
	memcpy(s->slot, exp->slot, sizeof(s->slot));
	list_for_each_entry(i, &exp->tasks, node) {
		s->charged += i->v.charged.ns;
		s->ran += i->v.ran;
		s->gated += i->gated;
		s->overhead += i->overhead;
		if (i->started)
			s->threads++;
	}
}

static void fill_thread(const struct tense_task *t, struct tense_thread *to,
			struct pid_namespace *ns, u32 flags)
{
	*to = (struct tense_thread) {
		.pid = pid_nr_ns(t->pid, ns),
		.tgid = pid_nr_ns(t->tgid, ns),
		.charged = t->v.charged.ns,
		.ran = t->v.ran,
		.gated = t->gated,
		.overhead = t->overhead,
		.percent = t->v.percent,
		.flags = flags,
	};
	BUILD_BUG_ON(sizeof(to->comm) != TASK_COMM_LEN);
	strscpy(to->comm, flags ? t->comm : t->task->comm, sizeof(to->comm));
}

/* Returns the number of records written, at most @max. */
static u32 fill_threads(struct tense_experiment *exp, struct tense_thread *to,
			u32 max)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct tense_task *t;
	u32 n = 0;

	lockdep_assert_held(&exp->lock);

	list_for_each_entry(t, &exp->tasks, node) {
		if (n < max && t->started)
			fill_thread(t, &to[n++], ns, 0);
	}
	list_for_each_entry(t, &exp->exited, node) {
		if (n < max)
			fill_thread(t, &to[n++], ns, TENSE_THREAD_EXITED);
	}
	return n;
}

/**
 * tense_report() - counters of the calling task's experiment
 * @t: the calling task, charged just now
 * @buf: where to
 * @count: its size
 *
 * Return: the number of bytes written, -EINVAL, -ENOMEM or -EFAULT.
 */
ssize_t tense_report(struct tense_task *t, char __user *buf, size_t count)
{
	struct tense_experiment *exp = t->exp;
	struct tense_thread *threads = NULL;
	struct tense_stats stats;
	u32 n = 0, max;

	if (count < sizeof(stats))
		return -EINVAL;
	max = min_t(size_t, (count - sizeof(stats)) / sizeof(*threads),
		    READ_ONCE(exp->tasks_now) + READ_ONCE(exp->exited_now));
	if (max) {
		threads = kvcalloc(max, sizeof(*threads), GFP_KERNEL_ACCOUNT);
		if (!threads)
			return -ENOMEM;
	}

	raw_spin_lock_irq(&exp->lock);
	fill_stats(t, &stats);
	if (max)
		n = fill_threads(exp, threads, max);
	raw_spin_unlock_irq(&exp->lock);

	count = sizeof(stats) + n * sizeof(*threads);
	if (copy_to_user(buf, &stats, sizeof(stats)) ||
	    (n && copy_to_user(buf + sizeof(stats), threads,
			       n * sizeof(*threads))))
		count = -EFAULT;
	kvfree(threads);
	return count;
}
