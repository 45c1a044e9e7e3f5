/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Experiments and their tasks.
 *
 * Lock order: pi_lock, runqueue lock, experiment lock, task lock, those inside of
 * vclock.c; and experiment lock, hrtimer base lock. Nothing that may take a
 * pi_lock or a runqueue lock, a wake-up above all, is called under any of these
 * but the first two. A charge and a context switch take a task's lock only, and
 * the experiment's if a deadline is due or the experiment idle.
 */
#ifndef TENSE_MODULE_H
#define TENSE_MODULE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
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

#include "share.h"
#include "vclock.h"

struct tense_area;
struct tense_experiment;
struct tense_frames;
struct vm_area_struct;

/* What an experiment has on one CPU beside its clock. */
struct tense_cpu {
	struct tense_experiment *exp;
	struct hrtimer timer;	/* next deadline, or end of the window */
	call_single_data_t kick;
	atomic_t kicked;	/* kick is queued and has not begun */
	bool used;		/* interrupts may come here; never cleared */
	u64 fire_next;		/* real: no deadline fires earlier; written here */
	struct tense_shares shares;	/* runqueue lock */
	/*
	 * This CPU's part in the sums, which may be less than 0: it may have given
	 * back what another one charged. Written here, interrupts disabled, as
	 * what follows.
	 */
	struct tense_slot slot[TENSE_SLOTS];
	u64 over_user;		/* worst LVT - GVT - window when found ahead */
	u64 over_kernel;
};

/* What Tense works in a task's time. */
enum tense_own {
	TENSE_OWN_NONE,
	TENSE_OWN_CALL,		/* a call of the device */
	TENSE_OWN_READING,	/* one that only reads the clock */
	TENSE_OWN_ENTRY,	/* a probe at a function's entry */
	TENSE_OWN_RETURN,	/* a probe at its return */
};

/* Ways from such work to such work whose cost is learnt. */
enum tense_ways {
	TENSE_WAY_CALL,		/* from call to call */
	TENSE_WAY_INSIDE,	/* from entry to return of an empty function */
	TENSE_WAY_OUTSIDE,	/* from its return to its next entry */
	TENSE_WAYS
};

struct tense_way {
	u64 min;		/* shortest that a task ran on it */
	u64 average;		/* of those that are about as short */
	unsigned int alike;	/* how many of them, up to a few */
};

/* Timers that tasks armed, by one clock. */
struct tense_queue {
	struct timerqueue_head timers;
	struct vclock_deadline first;	/* armed for the first of them */
};

/* What a user may have so many of. */
enum tense_user_thing {
	TENSE_USER_TASKS,
	TENSE_USER_AREAS,
	TENSE_USER_THINGS
};

struct tense_experiment {
	/*
	 * Protects everything in here but refs and what says otherwise, and of
	 * the tasks deadline, wait, outside and node. Interrupts are disabled
	 * under it.
	 */
	raw_spinlock_t lock;
	struct vclock vc;
	struct tense_user *user;	/* of its first task; constant */
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
	struct tense_way way[TENSE_WAYS];
	struct tense_queue queue[TENSE_TIMER_CLOCKS];
	/* What the clocks show beyond the monotonic one; read without the lock. */
	s64 offset[TENSE_CLOCKS];
	unsigned long virtual_clocks;	/* bits; written as a whole */

	struct mutex probes_mutex;	/* protects the next two; outermost */
	struct list_head probes;
	unsigned int probes_now;

	u64 started;		/* real; constant */
	unsigned int id;	/* for tracing; constant */
	refcount_t refs;	/* tasks, and who looks for one to join */
	struct tense_cpu __percpu *cpu;
	struct vclock_memory memory;
	struct page *shared;	/* struct tense_shared; its tasks may map it */
	struct list_head node;	/* among all experiments */
	struct rcu_head rcu;
};

/* What a task's deadline is there for. */
enum tense_wait {
	TENSE_RUNS,
	TENSE_SLEEPS,		/* it asked for that */
	TENSE_HELD,		/* woken from outside, ahead of GVT */
	TENSE_GATED,		/* a window ahead of GVT */
};

/* Credit that is there because a slot was charged what was Tense's own. */
struct tense_refund {
	u64 ns;			/* virtual */
	u8 slot;
};

#define TENSE_REFUNDS	8

struct tense_task {
	struct tense_experiment *exp;	/* constant */
	struct task_struct *task;	/* constant; valid until it leaves */
	u64 handle;		/* that it joined by, or 0; its own to use */
	/* Protects all that says nothing else and is not the experiment's to. */
	raw_spinlock_t lock;
	struct vclock_task v;
	enum tense_wait wait;
	bool started;		/* ever was runnable; runqueue lock to write */
	struct tense_sharer share;	/* runqueue lock */
	bool outside;		/* waits for the outside, or is on its way */
	bool in_call;		/* runs code of this module: not charged */
	bool at_gate;		/* gate_work is queued */
	bool in_gate;		/* runs or waits in tense_gate(); its own to use */
	u64 move;		/* virtual; not charged yet */
	u64 unpaid;		/* real: interrupts have drained its ring for it */
	struct tense_refund refund[TENSE_REFUNDS];	/* one for each slot */
	unsigned int refunds;
	u64 refundable;		/* real ns that may be given back */
	u64 recheck_at;		/* task clock: earliest timer for its ring */
	enum tense_own left;	/* Tense's work that it was last in */
	u64 left_at;		/* real */
	u64 gated;		/* real */
	u64 overhead;		/* real */
	struct tense_area *area;	/* set by the task itself */
	u64 counter;		/* when it was last charged or began to run */
	u64 own;		/* ticks from then on that were the module's */
	u32 tail;		/* records of its ring that were taken */
	u8 slot;		/* what it runs */
	u32 outer;		/* percent in no slot, in thousandths */
	const struct mm_struct *mm;	/* of a program; only compared */
	struct tense_frames *frames;	/* functions that it is in */
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

/* Set in emulators and virtual machines that hide what the counter can. */
extern bool tense_trust_counter;

/* A counter that all CPUs share and user space can read. */
static inline bool tense_has_counter(void)
{
#ifdef CONFIG_X86_64
	return tense_trust_counter ||
	       (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
		boot_cpu_has(X86_FEATURE_NONSTOP_TSC));
#else
	return false;
#endif
}

static inline u64 tense_counter(void)
{
#ifdef CONFIG_X86_64
	u32 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return (u64)high << 32 | low;
#else
	return 0;
#endif
}

/* With interrupts disabled. */
static inline struct tense_slot *tense_slot(struct tense_experiment *exp,
					    unsigned int slot)
{
	lockdep_assert_irqs_disabled();
	return &this_cpu_ptr(exp->cpu)->slot[slot];
}

/* What the task runs is charged from this value of the counter on. */
static inline void tense_area_begin(struct tense_task *t, u64 counter)
{
	t->counter = counter;
	t->own = 0;
}

/* area.c */
void tense_counter_init(void);
int tense_area_map(struct tense_task *t, struct vm_area_struct *vma);
void tense_enter_slot(struct tense_task *t, u8 slot);
void tense_start(struct tense_task *t);
u64 tense_area_charge(struct tense_task *t, u64 real_ns);
u64 tense_jump(struct tense_task *t);
void tense_refund(struct tense_task *t, u64 real_ns);
void tense_area_tell(struct tense_task *t);
void tense_take_shown(struct tense_task *t);
struct tense_area *tense_area_close(struct tense_task *t);
void tense_area_put(struct tense_area *area);

/* hooks.c */
extern const struct tense_ops tense_hooks;

/* user.c */
struct tense_user *tense_user_get(void);
void tense_user_put(struct tense_user *user);
void tense_user_hold(struct tense_user *user);
void tense_user_drop(struct tense_user *user);
bool tense_user_is_mine(const struct tense_user *user);
int tense_user_take(struct tense_user *user, enum tense_user_thing thing);
void tense_user_give(struct tense_user *user, enum tense_user_thing thing);
void tense_users_end(void);

/* experiment.c */
extern unsigned long tense_window;
extern bool tense_user_probes;
int tense_join(u64 handle);
void tense_leave(struct tense_task *t);
struct tense_task *tense_task_alloc(struct tense_experiment *exp,
				    struct task_struct *task);
ssize_t tense_report(struct tense_task *t, char __user *buf, size_t count);

/* clocks.c */
void tense_clocks_init(struct tense_experiment *exp);
void tense_clocks_end(struct tense_experiment *exp);
u64 tense_clock_of(const struct tense_experiment *exp,
		   enum tense_clock_id clock, u64 when);
bool tense_now(struct tense_task *t, enum tense_clock_id clock, ktime_t *now);
bool tense_charged(struct tense_task *t, enum tense_clock_id clock, ktime_t *now);
bool tense_time(struct tense_task *t, enum tense_clock_id clock, ktime_t *now);
void tense_clock_was_set(void);

/* idle.c */
bool tense_waits_outside(const struct tense_experiment *exp);
void tense_set_outside(struct tense_task *t, bool outside);

/* waits.c */
void tense_waits_init(struct tense_experiment *exp);
void tense_waits_end(struct tense_experiment *exp);
void tense_waits_moved(struct tense_experiment *exp);
bool tense_wait_start(struct tense_task *t, struct hrtimer *timer, ktime_t time,
		      bool relative);
int tense_wait_cancel(struct hrtimer *timer);
bool tense_wait_now(const struct hrtimer *timer, ktime_t *now);
struct hrtimer *tense_wait_take(struct tense_experiment *exp,
				struct vclock_deadline *d);
void tense_wait_run(struct tense_experiment *exp, struct hrtimer *timer);

/* timer.c */
bool tense_firing(const struct tense_experiment *exp, u64 *when);
void tense_look(struct tense_experiment *exp);
void tense_timers_init(struct tense_experiment *exp);
void tense_timers_stop(struct tense_experiment *exp);
void tense_stop_ahead(struct tense_task *t, bool jumped);
void tense_rearm(struct tense_experiment *exp, struct tense_task *running);
void tense_rearm_running(struct tense_task *t);
void tense_kick(struct tense_experiment *exp);
void tense_gate_moved(struct tense_task *t);
void tense_kick_past(struct tense_experiment *exp, u64 was);
void tense_disarm(struct tense_experiment *exp, struct vclock_deadline *d);
int tense_sleep(struct tense_task *t, u64 when);
void tense_gate(struct callback_head *work);

/* own.c */
void tense_own_init(struct tense_experiment *exp);
void tense_own_drain(struct tense_task *t, u64 since, u64 rate);
void tense_charge_stop(struct tense_task *t);
void tense_charge_go_on(struct tense_task *t);
void tense_own_begin(struct tense_task *t, enum tense_own own, bool learn);
u64 tense_own_end(struct tense_task *t, enum tense_own own);
u64 tense_way_cost(const struct tense_experiment *exp, enum tense_ways way);

/* probe.c */
#ifdef CONFIG_UPROBES
int tense_probe_add(struct tense_experiment *exp, u32 slot, u32 percent,
		    unsigned int fd, u64 offset);
void tense_probes_remove(struct tense_experiment *exp);
int tense_probe_fork(struct tense_task *child, const struct tense_task *parent);
void tense_probe_forget(struct tense_task *t);
#else
static inline int tense_probe_add(struct tense_experiment *exp, u32 slot,
				  u32 percent, unsigned int fd, u64 offset)
{
	return -EOPNOTSUPP;
}

static inline void tense_probes_remove(struct tense_experiment *exp) { }

static inline int tense_probe_fork(struct tense_task *child,
				   const struct tense_task *parent)
{
	return 0;
}

static inline void tense_probe_forget(struct tense_task *t) { }
#endif

/* chardev.c */
extern struct miscdevice tense_device;

#endif
