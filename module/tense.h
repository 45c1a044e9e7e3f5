/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Experiments and their tasks.
 *
 * Lock order: pi_lock, runqueue lock, experiment lock, hrtimer base lock.
 * Nothing that may take a pi_lock or a runqueue lock, a wake-up above all, is
 * called under an experiment's lock.
 */
#ifndef TENSE_MODULE_H
#define TENSE_MODULE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/tense.h>
#include <linux/timekeeping.h>
#include <uapi/linux/tense.h>

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#endif

#include "vclock.h"

struct tense_area;
struct tense_experiment;
struct vm_area_struct;

/* What an experiment has on one CPU beside its clock. */
struct tense_cpu {
	struct tense_experiment *exp;
	struct hrtimer timer;	/* next deadline, or end of the window */
	call_single_data_t kick;
	atomic_t kicked;	/* kick is queued and has not begun */
};

struct tense_experiment {
	/*
	 * Protects everything in here but refs, and every member of the
	 * experiment's tasks that does not say otherwise. Interrupts are
	 * disabled under it.
	 */
	raw_spinlock_t lock;
	struct vclock vc;
	struct list_head tasks;
	struct list_head exited;
	unsigned int tasks_now;
	unsigned int tasks_total;
	unsigned int exited_now;
	u64 departed_charged;	/* sums over tasks that left */
	u64 departed_ran;
	u64 departed_gated;
	u64 departed_overhead;
	u64 fired;
	u64 call_min;		/* shortest that a task ran between two calls */
	u64 call_average;	/* of those that are about as short */
	unsigned int calls_alike;	/* how many of them, up to a few */
	struct tense_slot slot[TENSE_SLOTS];

	u64 started;		/* real; constant */
	unsigned int id;	/* for tracing; constant */
	refcount_t refs;	/* tasks, and who looks for one to join */
	struct tense_cpu __percpu *cpu;
	struct vclock_cpu *clocks;
	u64 *tree;
	struct rcu_head rcu;
};

/* What a task's deadline is there for. */
enum tense_wait {
	TENSE_RUNS,
	TENSE_SLEEPS,		/* it asked for that */
	TENSE_HELD,		/* woken from outside, ahead of GVT */
	TENSE_GATED,		/* a window ahead of GVT */
};

struct tense_task {
	struct tense_experiment *exp;	/* constant */
	struct task_struct *task;	/* constant; valid until it leaves */
	const struct file *handle;	/* that it joined by; its own to use */
	struct vclock_task v;
	enum tense_wait wait;
	bool due;		/* woken by the module: not to be held */
	bool started;		/* ever was runnable */
	bool in_call;		/* runs code of this module: not charged */
	bool at_gate;		/* gate_work is queued */
	u64 move;		/* virtual; not charged yet */
	u64 ran_at_call;	/* v.ran when it last left a call */
	u64 gated;		/* real */
	u64 overhead;		/* real */
	struct tense_area *area;	/* set by the task itself */
	u64 counter;		/* when it was last charged or began to run */
	u32 tail;		/* records of its ring that were taken */
	u8 slot;		/* what it runs */
	struct callback_head gate_work;
	struct pid *pid;	/* set when it first runs, then constant */
	struct pid *tgid;
	char comm[TASK_COMM_LEN];	/* set when it leaves */
	struct list_head node;
	struct rcu_head rcu;
};

/* The clock that waits and idle experiments follow; from any context. */
static inline u64 tense_real_now(void)
{
	return ktime_get_mono_fast_ns();
}

/* A counter that all CPUs share and user space can read. */
static inline bool tense_has_counter(void)
{
#ifdef CONFIG_X86_64
	return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
	       boot_cpu_has(X86_FEATURE_NONSTOP_TSC);
#else
	return false;
#endif
}

static inline u64 tense_counter(void)
{
#ifdef CONFIG_X86_64
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* area.c */
void tense_counter_init(void);
int tense_area_map(struct tense_task *t, struct vm_area_struct *vma);
u64 tense_area_charge(struct tense_task *t, u64 real_ns);
void tense_area_tell(struct tense_task *t);
struct tense_area *tense_area_close(struct tense_task *t);
void tense_area_free(struct tense_area *area);

/* hooks.c */
extern const struct tense_ops tense_hooks;

/* experiment.c */
extern unsigned long tense_window;
int tense_join(const struct file *handle);
void tense_leave(struct tense_task *t);
struct tense_task *tense_task_alloc(struct tense_experiment *exp,
				    struct task_struct *task, u32 percent);
ssize_t tense_report(struct tense_task *t, char __user *buf, size_t count);

/* timer.c */
void tense_timers_init(struct tense_experiment *exp);
void tense_timers_stop(struct tense_experiment *exp);
void tense_rearm(struct tense_experiment *exp, struct tense_task *running);
void tense_kick(struct tense_experiment *exp);
int tense_sleep(struct tense_task *t, u64 when);
void tense_gate(struct callback_head *work);

/* chardev.c */
u64 tense_call_cost(const struct tense_experiment *exp);
extern struct miscdevice tense_device;

#endif
