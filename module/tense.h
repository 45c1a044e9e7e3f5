/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Experiments, their tasks, and the functions that the module's files share.
 *
 * Lock order, outermost first:
 * - join_mutex, in experiment.c
 * - exp->probes_mutex, in probe.c
 * - experiments_lock, in offsets.c; names_lock, in names.c
 * - p->pi_lock
 * - the run queue lock
 * - exp->lock; under it the locks of hrtimer bases
 * - t->lock; a parent's before its child's, which only hook_fork() nests
 * - c->lock and the locks of GVT, in vclock.c and gvt.c
 *
 * Under exp->lock and every lock after it, nothing may take a pi_lock or a run
 * queue lock. In particular, nothing may wake a task. A charge takes only t->lock
 * and later locks. A context switch takes exp->lock only if the experiment is idle, or
 * skips idle time.
 */
#ifndef TENSE_MODULE_H
#define TENSE_MODULE_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/tense.h>
#include <linux/timekeeping.h>
#include <uapi/linux/tense.h>

#include "compat.h"
#include "ledger.h"
#include "vclock.h"

struct cred;
struct tense_area;
struct tense_experiment;
struct tense_probe;
struct tense_survey;
struct vm_area_struct;

/* State of an experiment on one CPU, beside the CPU's virtual clock. */
struct tense_cpu {
	struct tense_experiment *exp;
	struct hrtimer timer;	/* next deadline, release or end of the window */
	struct irq_work stop;	/* stops the running task, which is ahead */
	call_single_data_t kick;
	atomic_t kicked;	/* kick is queued and has not begun */
	bool used;		/* the timer or a kick may run here; never cleared */
	u64 fire_next;		/* real: fires no deadline earlier; this CPU writes */
	u64 window_next;	/* real: end of the pause; this CPU writes */
	u64 ran;		/* real: run time of the task when the timer came last */
	struct tense_ledgers ledgers;	/* under the run queue lock of this CPU */
	/*
	 * This CPU's part of the sums. A part may be negative: this CPU may have
	 * refunded a charge of another CPU. Only this CPU writes it and the fields
	 * below, with interrupts disabled.
	 */
	struct tense_slot slot[TENSE_SLOTS];
	u64 over_user;		/* worst LVT - GVT - window, found in user mode */
	u64 over_kernel;	/* the same, found in the kernel */
};

/* Kinds of work that Tense itself does in a task's time. */
enum tense_work {
	TENSE_WORK_NONE,
	TENSE_WORK_CALL,	/* a call of the device */
	TENSE_WORK_READING,	/* a call that only reads the clock */
	TENSE_WORK_ENTRY,	/* a probe at a function's entry */
	TENSE_WORK_RETURN,	/* a probe at a function's return */
	TENSE_WORK_SAMPLE,	/* a sample, after an interrupt */
};

/*
 * A transition leads from one piece of Tense's work to the program, and from there
 * to the next piece. Tense learns its cost.
 */
enum tense_transition_kind {
	TENSE_TRANSITION_CALL,		/* from call to call */
	TENSE_TRANSITION_INSIDE,	/* from entry to return of an empty function */
	TENSE_TRANSITION_OUTSIDE,	/* from a return to the next entry */
	TENSE_TRANSITIONS
};

struct tense_transition {
	u64 min;		/* real ns: shortest seen */
	u64 average;		/* real ns: average of those about as short */
	unsigned int alike;	/* number of those, up to TIMES_TO_LEARN */
};

/* The timers that tasks armed on one clock. */
struct tense_queue {
	struct compat_queue timers;
	struct vclock_deadline first;	/* armed for the earliest of them */
};

/* Things of which a user may have a limited number. */
enum tense_user_thing {
	TENSE_USER_TASKS,
	TENSE_USER_AREAS,
	TENSE_USER_SURVEYS,
	TENSE_USER_THINGS
};

/* Processes of one user find an experiment by its name. names_lock protects it. */
struct tense_name {
	struct list_head node;	/* in the list of names; empty without a name */
	struct user_namespace *ns;	/* of the task that gave the name, or NULL */
	char text[TENSE_NAME_MAX + 1];
};

struct tense_experiment {
	/*
	 * Protects all fields except refs and those with a rule of their own. Also
	 * protects v.deadline, wait, outside and node of the experiment's tasks.
	 * Interrupts are disabled under it.
	 */
	raw_spinlock_t lock;
	struct vclock vc;
	struct tense_user *user;	/* it counts for this user's limits; constant */
	kuid_t uid;		/* real user id of its first task; constant */
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
	struct tense_transition transition[TENSE_TRANSITIONS];
	struct tense_queue queue[TENSE_TIMER_CLOCKS];
	/* Offset of each clock to the monotonic one; read without the lock. */
	s64 offset[TENSE_CLOCKS];
	unsigned long virtual_clocks;	/* a bit per clock; written as a whole */
	unsigned int clock_changes;	/* of offset and virtual_clocks; never 0 */

	/*
	 * One report at a time takes @lock, and keeps it for long. Otherwise reports would
	 * wait for each other with interrupts disabled, on all CPUs. Taken before @lock.
	 */
	struct mutex report_mutex;
	struct mutex probes_mutex;	/* protects probes and probes_now */
	struct list_head probes;
	unsigned int probes_now;

	u64 started;		/* real; constant */
	unsigned int id;	/* for tracing; constant */
	refcount_t refs;	/* one for each task, and for a task that is joining */
	struct tense_cpu __percpu *cpu;
	struct vclock_memory memory;
	struct page *shared;	/* struct tense_shared, which the tasks may map */
	struct tense_survey *survey;	/* takes samples, or NULL; set once */
	atomic_t survey_begun;	/* 1: a task sets survey now, or has set it */
	struct list_head node;	/* in the list of all experiments */
	struct tense_name name;
	struct rcu_head rcu;
};

/* Why a task has armed its own deadline. */
enum tense_wait {
	TENSE_RUNS,
	TENSE_SLEEPS,		/* it asked to sleep */
	TENSE_HELD,		/* an event outside woke it at a time ahead of GVT (R3) */
	TENSE_GATED,		/* its CPU is a window ahead of GVT (R6) */
};

/* Credit for Tense's own work that was charged to a slot. */
struct tense_refund {
	u64 ns;			/* virtual */
	u8 slot;
};

#define TENSE_REFUNDS	8

/* Return probes nest no deeper. */
#define TENSE_FRAMES_MAX	64

/* A probed function that the task is in. */
struct tense_frame {
	unsigned long sp;	/* stack pointer at its entry */
	const struct tense_probe *probe;
	u32 percent;		/* percent outside of it, in thousandths */
	u8 slot;		/* slot outside of it */
};

struct tense_frames {
	unsigned int nr;
	struct tense_frame frame[TENSE_FRAMES_MAX];
};

/* One point in each period of a time in virtual ns, see points.c. */
struct tense_points {
	u64 begin;		/* of the current period */
	u64 length;		/* of it */
	u64 point;		/* in it: the next sample is due */
	u64 random;		/* state of the generator */
	bool begun;		/* the fields above are valid */
};

/* A block that has ended and is to be sampled, see blocks.c. */
struct tense_block {
	u64 ns;			/* virtual: the sample stands for so much; 0: none is due */
	u64 time;		/* virtual: its end */
	u32 wake;		/* number of the wake-up that ended it, or 0 */
	s32 waker;		/* pid, or 0 */
	u32 flags;		/* TENSE_SAMPLE_* */
};

/* Says when a task is sampled. */
struct tense_sampler {
	struct tense_points charged;	/* of its charged time */
	struct tense_points blocked;	/* of blocked_ns */
	u64 blocked_ns;		/* virtual: sum of its blocks */
	bool in_block;		/* it is blocked, and nothing has woken it yet */
	struct tense_block block;
	u32 wake;		/* number of a wake-up by it that is to be sampled, or 0 */
	u64 pause_until;	/* tense_real_now(): no timer comes earlier for a sample */
	u64 since;		/* tense_real_now(): the sample became due */
	u64 ran;		/* real: v.ran when the sample became due */
	u64 ended;		/* real: v.ran when the last sample ended */
	unsigned int number;	/* of the task in its experiment; constant */
	bool queued;		/* work is queued */
	bool ends;		/* the end of a sample, which queues no other one */
	bool tries;		/* the end of a sample may begin a trial, see points.c */
	bool trial;		/* a trial is under way; the next event ends it */
	bool due;		/* it passed a point of its charged time, or a trial ended */
	bool in_kernel;		/* it was in the kernel then */
	struct callback_head work;
};

struct tense_task {
	struct tense_experiment *exp;	/* constant */
	struct task_struct *task;	/* constant; valid until it leaves */
	u64 handle;		/* handle by which it joined, or 0; only the task uses it */
	/*
	 * Protects all fields without a rule of their own that exp->lock does not.
	 * tense_task_lock() takes it and clears @plain. A caller that changes nothing
	 * which the next charge depends on takes it directly.
	 */
	raw_spinlock_t lock;
	bool plain;		/* the next charge may go the short way, see charge.c */
	struct vclock_task v;
	enum tense_wait wait;
	bool started;		/* was runnable once; written under the run queue lock */
	struct tense_entity entity;	/* under the run queue lock */
	bool outside;		/* no time is skipped: it waits for the outside, or wakes */
	bool waited_outside;	/* so did its last wait; only the task itself uses this */
	bool in_call;		/* runs code of this module: not charged */
	u64 own_work;		/* real: not charged either, for so long at most */
	bool gate_queued;		/* gate_work is queued */
	bool in_gate;		/* runs or waits in tense_gate() */
	bool for_mutex;		/* it blocked for one last; written under the run queue lock */
	u64 move;		/* virtual: a jump that is not charged yet */
	u64 work_since;		/* real: the call's time is accounted up to here */
	u64 work_ns;		/* real: end of a call, left out of the next charge */
	u64 unpaid;		/* real: cost of drains by interrupts; its turn ends sooner */
	struct tense_refund refund[TENSE_REFUNDS];	/* one per slot */
	unsigned int refunds;
	u64 refundable;		/* real: earned by running, not refunded yet */
	u64 booked_ran;		/* of v.ran: what counts in slots and refundable */
	u64 booked_charged;	/* of v.charged: what counts in slots */
	u64 recheck_at;		/* local_clock(): no timer looks at its ring earlier */
	enum tense_work left;	/* Tense's latest work in its time */
	u64 left_at;		/* real: when that ended */
	u64 gated;		/* real: time at the gate */
	u64 overhead;		/* real: Tense's own work */
	struct tense_area *area;	/* only the task itself sets it */
	u64 counter;		/* at its last charge, or when it began to run */
	u64 work_ticks;		/* ticks since then that were the module's work */
	u32 tail;		/* index of the next record to take */
	u8 slot;		/* its current slot */
	u32 outer;		/* percent outside of all slots, in thousandths */
	const struct mm_struct *mm;	/* memory of its program; only compared */
	struct tense_frames *frames;	/* probed functions that it is in */
	struct callback_head gate_work;
	struct tense_sampler sampler;
	struct pid *pid;	/* set when it first runs, then constant */
	struct pid *tgid;
	char comm[TASK_COMM_LEN];	/* set when it leaves */
	struct list_head node;
	struct rcu_head rcu;
};

/* True while the task runs code of Tense and not the program's: R13 charges nothing. */
static inline bool tense_is_at_work(const struct tense_task *t)
{
	return t->in_call || t->own_work;
}

/* Each thread may jump by years: a sum that would overflow takes its largest value. */
static inline void tense_add_up(u64 *sum, u64 ns)
{
	*sum = ns > U64_MAX - *sum ? U64_MAX : *sum + ns;
}

/* The real clock that waits and idle experiments follow. Works in any context. */
static inline u64 tense_real_now(void)
{
	return ktime_get_mono_fast_ns();
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

/* Returns the running task if it is in @exp. */
static inline struct tense_task *tense_member(const struct tense_experiment *exp)
{
	struct tense_task *t = current->tense;

	return t && t->exp == exp ? t : NULL;
}

/* Caller has disabled interrupts. */
static inline struct tense_slot *tense_slot(struct tense_experiment *exp,
					    unsigned int slot)
{
	lockdep_assert_irqs_disabled();
	return &this_cpu_ptr(exp->cpu)->slot[slot];
}

/* A stretch of @t begins at this counter value. Its next charge starts there. */
static inline void tense_stretch_begin(struct tense_task *t, u64 counter)
{
	t->counter = counter;
	t->work_ticks = 0;
}

/*
 * Takes t->lock to change something. The next charge looks at everything again, since
 * it may depend on that.
 */
static inline void tense_task_lock(struct tense_task *t)
{
	raw_spin_lock(&t->lock);
	t->plain = false;
}

static inline void tense_task_lock_irq(struct tense_task *t)
{
	local_irq_disable();
	tense_task_lock(t);
}

/* area.c */
void tense_counter_init(void);
int tense_area_map(struct tense_task *t, struct vm_area_struct *vma);
struct tense_area *tense_area_close(struct tense_task *t);
void tense_area_put(struct tense_area *area);

/* charge.c */
void tense_book(struct tense_task *t);
void tense_set_slot(struct tense_task *t, u8 slot);
void tense_enter_slot(struct tense_task *t, u8 slot);
void tense_start(struct tense_task *t);
void tense_take_records(struct tense_task *t);
u64 tense_jump(struct tense_task *t);
struct tense_charge tense_charge_hook(struct tense_task *t, u64 delta,
				      bool alone);
void tense_refund(struct tense_task *t, u64 real_ns);
void tense_return_refunds(struct tense_task *t);
void tense_take_shown(struct tense_task *t);

/* page.c */
bool tense_page_shows_clocks(const struct tense_task *t);
void tense_page_go_on(struct tense_task *t);
void tense_page_update(struct tense_task *t);

/* hooks.c */
extern const struct tense_ops tense_hooks;

/* user.c */
struct tense_user *tense_user_get(void);
void tense_user_put(struct tense_user *user);
void tense_user_hold(struct tense_user *user);
void tense_user_drop(struct tense_user *user);
int tense_user_take(struct tense_user *user, enum tense_user_thing thing);
void tense_user_give(struct tense_user *user, enum tense_user_thing thing);
void tense_users_end(void);

/* rights.c */
bool tense_has_plain_rights(void);
bool tense_is_mine(const struct tense_experiment *exp);
bool tense_may_trace(const struct cred *tracer, const struct cred *cred);

/* names.c */
bool tense_name_is_valid(const char *text);
void tense_name_set(struct tense_experiment *exp, const char *text);
bool tense_name_is(struct tense_experiment *exp, const char *text);
struct tense_experiment *tense_name_find(const char *text);
void tense_name_remove(struct tense_experiment *exp);
void tense_name_end(struct tense_experiment *exp);

/* experiment.c */
extern unsigned long tense_window;
int tense_join(u64 handle);
int tense_join_named(u64 handle, const char *name);
void tense_leave(struct tense_task *t);
struct tense_task *tense_task_alloc(struct tense_experiment *exp,
				    struct task_struct *task);
ssize_t tense_report(struct tense_task *t, char __user *buf, size_t count);

/* offsets.c */
void tense_clocks_init(struct tense_experiment *exp);
void tense_clocks_end(struct tense_experiment *exp);
void tense_clock_was_set(void);
void tense_clocks_choose(struct tense_experiment *exp, unsigned long clocks);

/* clocks.c */
u64 tense_clock_of(const struct tense_experiment *exp,
		   enum tense_clock_id clock, u64 when);
bool tense_now(struct tense_task *t, enum tense_clock_id clock, ktime_t *now);
bool tense_charged(struct tense_task *t, enum tense_clock_id clock, ktime_t *now);
bool tense_time(struct tense_task *t, enum tense_clock_id clock, ktime_t *now);

/* idle.c */
bool tense_waits_outside(struct tense_task *t);
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
int tense_sleep(struct tense_task *t, u64 when);

/* fire.c */
bool tense_firing(const struct tense_experiment *exp, u64 *when);
void tense_timers_init(struct tense_experiment *exp);
void tense_timers_stop(struct tense_experiment *exp);

/* gate.c */
void tense_gate(struct callback_head *work);
void tense_gate_moved(struct tense_task *t);

/* ahead.c */
bool tense_may_stop(struct task_struct *p);
void tense_stop_ahead(struct tense_task *t, bool jumped);
bool tense_is_to_stop(const struct tense_task *t);
void tense_stop_if_ahead(struct tense_task *t);

/* timer.c */
u64 tense_pause_left(struct tense_cpu *c);
void tense_look(struct tense_experiment *exp);
void tense_rearm(struct tense_experiment *exp, struct tense_task *running);
void tense_rearm_running(struct tense_task *t);
void tense_kick(struct tense_experiment *exp);
void tense_kick_past(struct tense_experiment *exp, u64 was);
void tense_disarm(struct tense_experiment *exp, struct vclock_deadline *d);

/* points.c */
bool tense_may_sample(const struct task_struct *p);
u64 tense_points_pass(struct tense_points *p, u64 now, const struct tense_survey *survey);
void tense_points_begin(struct tense_points *p, u64 now, u64 seed,
			const struct tense_survey *survey);
void tense_sampler_queue(struct tense_task *t);
u64 tense_sampler_horizon(struct tense_task *t);
void tense_sampler_stops(struct tense_task *t);

/* blocks.c */
void tense_block_begins(struct tense_task *t);
void tense_block_ends(struct tense_task *t, struct tense_task *waker, u32 flags);

/* sampler.c */
void tense_sampler(struct callback_head *work);

/* overhead.c */
void tense_work_init(struct tense_experiment *exp);
void tense_charge_stop(struct tense_task *t);
void tense_charge_go_on(struct tense_task *t);
void tense_work_begin(struct tense_task *t, enum tense_work work, bool learn);
void tense_own_work_begin(struct tense_task *t);
void tense_own_work_end(struct tense_task *t);
void tense_own_work_pass(struct tense_task *t, u64 ns);
u64 tense_work_end(struct tense_task *t, enum tense_work work);
u64 tense_transition_cost(const struct tense_experiment *exp,
			  enum tense_transition_kind transition);

/* probe.c */
#ifdef CONFIG_UPROBES
int tense_probe_add(struct tense_experiment *exp, u32 slot, u32 percent,
		    unsigned int fd, u64 offset);
void tense_probes_remove(struct tense_experiment *exp);
int tense_probe_fork(struct tense_task *child, const struct tense_task *parent);
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
#endif

/* chardev.c */
extern struct miscdevice tense_device;

#endif
