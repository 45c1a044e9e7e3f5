// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and frees experiments, lets tasks join and leave, and reports their
 * counters to read(2).
 *
 * exp->lock protects the lists of tasks and the sums. Each task holds a reference
 * to its experiment. The last reference frees it.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "samples.h"
#include "tense.h"

unsigned long tense_window = TENSE_WINDOW_NS;
module_param_named(window, tense_window, ulong, 0444);
MODULE_PARM_DESC(window, "Bound on LVT - GVT of new experiments, in ns");

/*
 * A task holds it while it looks for its experiment and joins it. So it finds the
 * experiment of a sibling that joins at the same time: a process has only one.
 */
static DEFINE_MUTEX(join_mutex);

static_assert(VCLOCK_PERCENT_MAX == TENSE_PERCENT_MAX);
static_assert(VCLOCK_FINE == TENSE_FINE);
static_assert(VCLOCK_PERCENT_REAL == TENSE_PERCENT_REAL);
static_assert(VCLOCK_TIME_MAX == TENSE_TIME_MAX);

static void experiment_free(struct tense_experiment *exp)
{
	if (exp->survey)
		tense_user_give(exp->user, TENSE_USER_SURVEYS);
	tense_survey_free(exp->survey);
	tense_user_put(exp->user);
	tense_name_end(exp);
	if (exp->shared)
		put_page(exp->shared);
	free_percpu(exp->cpu);
	kvfree(exp->memory.cpu);
	kvfree(exp->memory.least);
	kvfree(exp->memory.lock);
	kfree_rcu(exp, rcu);
}

/* Allocates the arrays. After a failure, too, experiment_free() frees them. */
static bool memory_alloc(struct vclock_memory *m)
{
	unsigned int leaves = gvt_leaves(nr_cpu_ids);

	m->cpus = nr_cpu_ids;
	m->cpu = kvcalloc(nr_cpu_ids, sizeof(*m->cpu), GFP_KERNEL_ACCOUNT);
	m->least = kvcalloc(2 * leaves, sizeof(*m->least), GFP_KERNEL_ACCOUNT);
	m->lock = kvcalloc(leaves, sizeof(*m->lock), GFP_KERNEL_ACCOUNT);
	return m->cpu && m->least && m->lock;
}

/* R9: a single CPU orders readings by its own latest reading. */
static void latest_init(struct tense_experiment *exp)
{
	struct tense_shared *shared = page_address(exp->shared);

	exp->vc.latest = &shared->latest;
	exp->vc.ordered = num_possible_cpus() > 1;
}

static struct tense_experiment *experiment_alloc(void)
{
	static atomic_t last_id = ATOMIC_INIT(0);
	struct tense_experiment *exp;
	struct tense_user *user;

	user = tense_user_get();
	if (IS_ERR(user))
		return ERR_CAST(user);
	exp = kzalloc(sizeof(*exp), GFP_KERNEL_ACCOUNT);
	if (!exp) {
		tense_user_put(user);
		return ERR_PTR(-ENOMEM);
	}
	exp->user = user;
	exp->uid = current_uid();
	exp->cpu = alloc_percpu_gfp(struct tense_cpu, GFP_KERNEL_ACCOUNT);
	exp->shared = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!exp->cpu || !exp->shared || !memory_alloc(&exp->memory)) {
		experiment_free(exp);
		return ERR_PTR(-ENOMEM);
	}
	raw_spin_lock_init(&exp->lock);
	INIT_LIST_HEAD(&exp->tasks);
	INIT_LIST_HEAD(&exp->exited);
	INIT_LIST_HEAD(&exp->name.node);
	refcount_set(&exp->refs, 1);
	exp->id = atomic_inc_return(&last_id);
	mutex_init(&exp->report_mutex);
	mutex_init(&exp->probes_mutex);
	INIT_LIST_HEAD(&exp->probes);
	tense_work_init(exp);
	exp->started = tense_real_now();
	vclock_init(&exp->vc, &exp->memory, tense_window, exp->started);
	latest_init(exp);
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
	tense_name_remove(exp);
	tense_probes_remove(exp);
	tense_clocks_end(exp);
	tense_timers_stop(exp);
	tense_waits_end(exp);
	list_for_each_entry_safe(t, next, &exp->exited, node)
		task_free(t);
	experiment_free(exp);
}

/*
 * Adds a tense_task for @task, which holds a reference to the experiment. The
 * caller gives it back by tense_leave(). Returns -ENOMEM or -EDQUOT on failure. May
 * sleep.
 */
struct tense_task *tense_task_alloc(struct tense_experiment *exp,
				    struct task_struct *task)
{
	struct tense_task *t;
	int err;

	err = tense_user_take(exp->user, TENSE_USER_TASKS);
	if (err)
		return ERR_PTR(err);
	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t) {
		tense_user_give(exp->user, TENSE_USER_TASKS);
		return ERR_PTR(-ENOMEM);
	}
	refcount_inc(&exp->refs);
	raw_spin_lock_init(&t->lock);
	t->exp = exp;
	t->task = task;
	init_task_work(&t->gate_work, tense_gate);
	init_task_work(&t->sampler.work, tense_sampler);
	tense_entity_init(&t->entity, NULL);

	raw_spin_lock_irq(&exp->lock);
	vclock_task_init(&t->v, VCLOCK_PERCENT_REAL,
			 vclock_gvt(&exp->vc, tense_real_now()));
	list_add_tail(&t->node, &exp->tasks);
	exp->tasks_now++;
	exp->tasks_total++;
	t->sampler.number = exp->tasks_total;
	raw_spin_unlock_irq(&exp->lock);
	return t;
}

/* Keeps the tasks that left last, for reports. Returns a task to free, or NULL. */
static struct tense_task *remember(struct tense_experiment *exp,
				   struct tense_task *t)
{
	lockdep_assert_held(&exp->lock);

	if (!t->started) {
		exp->tasks_total--;
		return t;
	}
	tense_add_up(&exp->departed_charged, t->v.charged.ns);
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
 * tense_leave() - take a task out of its experiment
 * @t: the task; no task_struct points to it any more
 *
 * May sleep.
 */
void tense_leave(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	struct tense_task *forgotten;
	struct tense_area *area;

	/* No task_struct points to t, so nobody queues the work again. */
	if (t->gate_queued)
		tense_not_at_return(&t->gate_work);
	if (t->sampler.queued)
		tense_not_at_return(&t->sampler.work);
	/* Takes a lock that must not be taken with interrupts disabled. */
	get_task_comm(t->comm, t->task);
	raw_spin_lock_irq(&exp->lock);
	tense_set_outside(t, false);
	tense_task_lock(t);
	/* Records in its ring count even if no time has passed since. */
	if (t->v.cpu >= 0)
		tense_take_records(t);
	tense_return_refunds(t);
	tense_book(t);
	vclock_leave(&exp->vc, &t->v, tense_real_now());
	area = tense_area_close(t);
	raw_spin_unlock(&t->lock);
	list_del(&t->node);
	exp->tasks_now--;
	forgotten = remember(exp, t);
	raw_spin_unlock_irq(&exp->lock);

	/* GVT may have risen over another task's deadline. */
	tense_kick(exp);
	tense_user_give(exp->user, TENSE_USER_TASKS);
	tense_area_put(area);
	if (forgotten)
		task_free(forgotten);
	experiment_put(exp);
}

/* Returns the experiment of any thread of @p's process, with a reference. */
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

static struct tense_experiment *find_sibling(void)
{
	struct tense_experiment *exp;

	rcu_read_lock();
	exp = find_in(current);
	rcu_read_unlock();
	return exp;
}

static struct tense_experiment *find_or_alloc(void)
{
	struct tense_experiment *exp = find_sibling();

	if (exp)
		return exp;
	/* The parent's experiment could delay a program that has more rights. */
	if (!tense_has_plain_rights())
		return experiment_alloc();
	rcu_read_lock();
	exp = find_in(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	if (exp && tense_is_mine(exp))
		return exp;
	/* It is another user's, for instance that of a daemon which has changed its ids. */
	if (exp)
		experiment_put(exp);
	return experiment_alloc();
}

/*
 * Returns the experiment of this name, with a reference. -EBUSY: a sibling is in
 * another one.
 */
static struct tense_experiment *find_or_alloc_named(const char *name,
						    struct tense_experiment *sibling)
{
	struct tense_experiment *exp;

	lockdep_assert_held(&join_mutex);

	if (sibling) {
		if (!tense_name_is(sibling, name))
			return ERR_PTR(-EBUSY);
		refcount_inc(&sibling->refs);
		return sibling;
	}
	exp = tense_name_find(name);
	if (exp)
		return exp;
	exp = experiment_alloc();
	if (!IS_ERR(exp))
		tense_name_set(exp, name);
	return exp;
}

/* The caller holds a reference to the experiment. */
static int join(struct tense_experiment *exp, u64 handle)
{
	struct tense_task *t;
	int err;

	lockdep_assert_held(&join_mutex);

	if (IS_ERR(exp))
		return PTR_ERR(exp);
	t = tense_task_alloc(exp, current);
	if (IS_ERR(t))
		return PTR_ERR(t);
	t->handle = handle;
	err = tense_attach(t);
	if (err) {
		tense_leave(t);
		return err;
	}
	/* Its CPU has turned active without a context switch. */
	tense_rearm_running(t);
	return 0;
}

static void put_found(struct tense_experiment *exp)
{
	if (!IS_ERR_OR_NULL(exp))
		experiment_put(exp);
}

/**
 * tense_join() - let the calling task join an experiment
 * @handle: number of the handle by which it joins
 *
 * The task is in no experiment so far. May sleep.
 *
 * Return: 0, -ENOMEM, -ENODEV, -EMFILE or -EDQUOT.
 */
int tense_join(u64 handle)
{
	struct tense_experiment *exp;
	int err;

	mutex_lock(&join_mutex);
	exp = find_or_alloc();
	err = join(exp, handle);
	mutex_unlock(&join_mutex);
	put_found(exp);
	return err;
}

/**
 * tense_join_named() - let the calling task join the experiment of a name
 * @handle: number of the handle by which it joins
 * @name: a valid name
 *
 * The task is in no experiment so far. It starts at GVT, like every task that joins.
 * If its user has no such experiment, it gets a new one. May sleep.
 *
 * Return: 0, -EBUSY, -EPERM, -ENOMEM, -ENODEV, -EMFILE or -EDQUOT.
 */
int tense_join_named(u64 handle, const char *name)
{
	struct tense_experiment *exp, *sibling;
	int err;

	/* At the gate, other members could delay a program that has more rights. */
	if (!tense_has_plain_rights())
		return -EPERM;
	mutex_lock(&join_mutex);
	sibling = find_sibling();
	exp = find_or_alloc_named(name, sibling);
	err = join(exp, handle);
	mutex_unlock(&join_mutex);
	/* Putting the last reference waits for probes. */
	put_found(exp);
	put_found(sibling);
	return err;
}

/*
 * A slot's sum may be negative: a refund may precede its charge, and a late record
 * may book time to the wrong slot. Takes the lacking time from slot 0, which most
 * likely got it.
 */
static void take_lack(u64 *sum, u64 *by)
{
	if ((s64)*sum < 0) {
		*by += *sum;
		*sum = 0;
	}
}

/* Takes the lacking time of slot 0 from another slot, but not below 0. */
static void take_lack_within(u64 *sum, u64 *by)
{
	u64 part;

	if ((s64)*sum < 0) {
		part = min(-*sum, *by);
		*by -= part;
		*sum += part;
	}
}

static void fill_slots(struct tense_experiment *exp, struct tense_slot *to)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct tense_slot *from = per_cpu_ptr(exp->cpu, cpu)->slot;

		for (i = 0; i < TENSE_SLOTS; i++) {
			to[i].calls += READ_ONCE(from[i].calls);
			to[i].ran += READ_ONCE(from[i].ran);
			to[i].charged += READ_ONCE(from[i].charged);
		}
	}
	/* Balance slot 0 against the others, so that no sum is negative. */
	for (i = 1; i < TENSE_SLOTS; i++) {
		take_lack(&to[i].ran, &to[0].ran);
		take_lack(&to[i].charged, &to[0].charged);
	}
	for (i = 1; i < TENSE_SLOTS; i++) {
		take_lack_within(&to[0].ran, &to[i].ran);
		take_lack_within(&to[0].charged, &to[i].charged);
	}
}

static void fill_over(struct tense_experiment *exp, struct tense_stats *s)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct tense_cpu *c = per_cpu_ptr(exp->cpu, cpu);

		s->over_user = max(s->over_user, READ_ONCE(c->over_user));
		s->over_kernel = max(s->over_kernel, READ_ONCE(c->over_kernel));
	}
}

static void add_task(struct tense_stats *s, struct tense_task *t)
{
	lockdep_assert_held(&t->lock);

	tense_book(t);
	tense_add_up(&s->charged, t->v.charged.ns);
	s->ran += t->v.ran;
	s->gated += t->gated;
	s->overhead += t->overhead;
}

static void fill_stats(struct tense_task *t, struct tense_stats *s)
{
	struct tense_experiment *exp = t->exp;

	lockdep_assert_held(&exp->lock);

	vclock_advance(&exp->vc, tense_real_now());
	*s = (struct tense_stats) {
		.version = TENSE_STATS_VERSION,
		.size = sizeof(*s),
		.thread_size = sizeof(struct tense_thread),
		.threads = exp->exited_now,
		.gvt = vclock_reached(&exp->vc),
		.window = exp->vc.window,
		.skew = vclock_skew(&exp->vc),
		.elapsed = tense_real_now() - exp->started,
		.charged = exp->departed_charged,
		.ran = exp->departed_ran,
		.gated = exp->departed_gated,
		.overhead = exp->departed_overhead,
		.call = tense_transition_cost(exp, TENSE_TRANSITION_CALL),
		.deadlines = exp->fired,
		.tasks = exp->tasks_now,
		.tasks_total = exp->tasks_total,
		.percent = t->v.percent,
		.flags = t->handle ? TENSE_STATS_OWNER : 0,
	};
	tense_task_lock(t);
	s->lvt = vclock_now(&exp->vc, &t->v);
	raw_spin_unlock(&t->lock);
	fill_over(exp, s);
}

static void fill_thread(struct tense_task *t, struct tense_thread *to,
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

/*
 * Adds the tasks to the sums and writes their records. Even if an interrupt charges
 * tasks meanwhile, the records add up to the sums, because one hold of t->lock covers
 * both. Returns the number of records written, at most @max.
 */
static u32 fill_threads(struct tense_experiment *exp, struct tense_stats *s,
			struct tense_thread *to, u32 max)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct tense_task *t;
	u32 n = 0;

	lockdep_assert_held(&exp->lock);

	list_for_each_entry(t, &exp->tasks, node) {
		/* Pairs with hook_enqueue(), which has set pid and tgid. */
		bool started = smp_load_acquire(&t->started);

		tense_task_lock(t);
		add_task(s, t);
		if (started && n < max)
			fill_thread(t, &to[n++], ns, 0);
		raw_spin_unlock(&t->lock);
		s->threads += started;
	}
	list_for_each_entry(t, &exp->exited, node) {
		if (n < max)
			fill_thread(t, &to[n++], ns, TENSE_THREAD_EXITED);
	}
	return n;
}

/**
 * tense_report() - write counters of the calling task's experiment to user space
 * @t: the calling task, charged just now
 * @buf: the buffer
 * @count: its size
 *
 * Return: the number of bytes written, -EINVAL, -ENOMEM, -EFAULT, or -EINTR if the task
 * is killed.
 */
ssize_t tense_report(struct tense_task *t, char __user *buf, size_t count)
{
	struct tense_experiment *exp = t->exp;
	struct tense_thread *threads = NULL;
	struct tense_stats stats;
	u32 n, most;

	if (count < sizeof(stats))
		return -EINVAL;
	most = min_t(size_t, (count - sizeof(stats)) / sizeof(*threads),
		     READ_ONCE(exp->tasks_now) + READ_ONCE(exp->exited_now));
	if (most) {
		threads = kvcalloc(most, sizeof(*threads), GFP_KERNEL_ACCOUNT);
		if (!threads)
			return -ENOMEM;
	}

	/* Not interruptible: Linux 6.1 may hold such a task (R3) when it owns the mutex. */
	if (mutex_lock_killable(&exp->report_mutex)) {
		kvfree(threads);
		return -EINTR;
	}
	raw_spin_lock_irq(&exp->lock);
	fill_stats(t, &stats);
	n = fill_threads(exp, &stats, threads, most);
	/* All tasks have booked by now. */
	fill_slots(exp, stats.slot);
	raw_spin_unlock_irq(&exp->lock);
	mutex_unlock(&exp->report_mutex);

	count = sizeof(stats) + n * sizeof(*threads);
	if (copy_to_user(buf, &stats, sizeof(stats)) ||
	    (n && copy_to_user(buf + sizeof(stats), threads,
			       n * sizeof(*threads))))
		count = -EFAULT;
	kvfree(threads);
	return count;
}
