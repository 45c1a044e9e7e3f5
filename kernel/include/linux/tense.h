/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tense: hooks by which a module charges tasks for virtual time.
 *
 * task_struct.tense is set in tasks of an experiment only. While no module is
 * registered, a hook costs each task one static branch. While one is, each hook
 * also reads task_struct.tense.
 *
 * The task itself writes its task_struct.tense, under its run queue lock, or
 * its parent does before it first runs. The task itself may read it. Others may
 * read it under the task's run queue lock or, while the task is blocked, under
 * its pi_lock. Each task whose pointer is set holds a reference to the module.
 */
#ifndef _LINUX_TENSE_H
#define _LINUX_TENSE_H

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

struct callback_head;
struct module;
struct tense_task;

/*
 * Clocks that can be virtual; the first ones in the order of enum
 * hrtimer_base_type.
 */
enum tense_clock_id {
	TENSE_MONOTONIC,
	TENSE_REALTIME,
	TENSE_BOOTTIME,
	TENSE_TAI,
	TENSE_TIMER_CLOCKS,
	TENSE_RAW = TENSE_TIMER_CLOCKS,
	TENSE_CLOCKS
};

#ifdef CONFIG_TENSE

/*
 * The fair class compares by signed differences and multiplies by weights. A
 * jump of years would turn a task that is far behind into one that is far
 * ahead, and all others would wait for it. So one charge uses up at most this
 * many ns of a turn.
 */
#define TENSE_SHARE_MAX	BIT_ULL(30)

/*
 * A jump adds to a task's CPU time only up to this total, in ns: 13 days. Sums
 * over threads and children must not overflow.
 */
#define TENSE_CPU_TIME_MAX	BIT_ULL(50)

/**
 * struct tense_place - place of a task in a queue of the fair class
 * @queue: the queue, only to be compared; NULL in another class
 * @running: number of tasks and groups in the queue, with this one
 * @weight: the task's weight
 * @vruntime: the task's vruntime
 * @min_vruntime: the queue's min_vruntime
 */
struct tense_place {
	const void *queue;
	unsigned int running;
	unsigned long weight;
	u64 vruntime;
	u64 min_vruntime;
};

/**
 * struct tense_group - a queue of the fair class as a group in the queue above
 * @running: number of tasks and groups in the queue
 * @depth: number of queues above it
 * @min_vruntime: the queue's min_vruntime
 * @above: queue in which the group waits for its own turn; NULL above all
 *	groups
 * @weight: the group's weight in that queue
 * @vruntime: the group's vruntime in that queue
 * @limited: the group has a limit on its CPU time
 */
struct tense_group {
	unsigned int running;
	unsigned int depth;
	u64 min_vruntime;
	const void *above;
	unsigned long weight;
	u64 vruntime;
	bool limited;
};

/**
 * struct tense_charge - result of charging a task
 * @cpu_time: ns that the charge adds to its CPU time
 * @share: ns of its turn that are over
 */
struct tense_charge {
	u64 cpu_time;
	u64 share;
};

/**
 * struct tense_ops - functions that a module provides for the hooks
 * @owner: the module
 * @charge: the task ran for so many ns, and may be alone in its queue at normal
 *	weight; returns the charge. Run queue locked.
 * @enqueue: the task is runnable on a CPU, maybe on another one than before.
 *	Run queue locked.
 * @dequeue: the task is in no queue any more, or is about to leave it, and may
 *	have stopped to wait. It has been charged. Run queue locked.
 * @hold: current, or an interrupt, wakes the blocked task. Returns true if the
 *	task has to sleep on until the module wakes it. pi_lock held. For a new
 *	task it returns false: the task begins at its parent's time.
 * @switched: the CPU is about to run the second task instead of the first.
 *	Either may be NULL. Run queue locked.
 * @tick: the tick has just charged the task. Run queue locked.
 * @fork: the running task creates a child. Returns the child's part or an
 *	error. May sleep.
 * @leave: the part no longer belongs to a task, and may be freed. May sleep.
 * @now: reads a clock for the running task; false if the clock is the real one.
 *	No reading is earlier than one before it. No lock is held except those
 *	of timers' owners.
 * @time: tells the charged time in the same way. Time-outs and timers of the
 *	running task count from it.
 * @timer_start: arms the timer for the running task, at a time or in so many
 *	ns. Returns false if the timer has to run in real time. The timer is not
 *	queued.
 * @timer_cancel: takes the timer out of its experiment's queue. Returns 1 if it
 *	was queued; -1 if its callback runs, even if it was armed again
 *	meanwhile; 0 if it is in no queue. Under RCU.
 * @timer_now: tells the timer's clock while its callback runs. Under RCU.
 * @clock_set: clocks were set. Under RCU.
 */
struct tense_ops {
	struct module *owner;
	struct tense_charge (*charge)(struct tense_task *t, u64 delta,
				      bool alone);
	void (*enqueue)(struct tense_task *t, int cpu,
			const struct tense_place *place);
	void (*dequeue)(struct tense_task *t, bool sleep);
	bool (*hold)(struct tense_task *t);
	void (*switched)(struct tense_task *prev, struct tense_task *next);
	void (*tick)(struct tense_task *t);
	struct tense_task *(*fork)(struct tense_task *t, struct task_struct *child);
	void (*leave)(struct tense_task *t);
	bool (*now)(struct tense_task *t, enum tense_clock_id clock,
		    ktime_t *now);
	bool (*time)(struct tense_task *t, enum tense_clock_id clock,
		     ktime_t *now);
	bool (*timer_start)(struct tense_task *t, struct hrtimer *timer,
			    ktime_t time, bool relative);
	int (*timer_cancel)(struct hrtimer *timer);
	bool (*timer_now)(const struct hrtimer *timer, ktime_t *now);
	void (*clock_set)(void);
};

int tense_register(const struct tense_ops *ops);
void tense_unregister(const struct tense_ops *ops);

int tense_attach(struct tense_task *t);
void tense_detach(void);
void tense_settle(void);
int tense_at_return(struct task_struct *p, struct callback_head *work);
void tense_not_at_return(struct callback_head *work);
struct tense_place tense_place_of(struct task_struct *p);
bool tense_is_fair(const struct task_struct *p);
struct tense_group tense_group_of(const void *queue);
void tense_group_owes(const void *queue, s64 ns);
bool tense_in_interrupt(void);

DECLARE_STATIC_KEY_FALSE(tense_key);
DECLARE_PER_CPU(bool, tense_softirq);

/* NULL while no module is registered. */
extern const struct tense_ops *tense_ops;

void __tense_charge(struct sched_entity *se, u64 delta,
		    u64 (*fair)(u64 delta, struct sched_entity *se));
void __tense_enqueue(struct task_struct *p);
void __tense_dequeue(struct task_struct *p, bool sleep);
bool __tense_hold(struct task_struct *p);
void __tense_switch(struct task_struct *prev, struct task_struct *next);
void __tense_tick(struct task_struct *p);
int __tense_fork(struct task_struct *p);
void __tense_cancel_fork(struct task_struct *p);
bool __tense_now(enum tense_clock_id clock, ktime_t *now);
bool __tense_time(enum tense_clock_id clock, ktime_t *now);
bool __tense_schedule_timeout(long *timeout);
bool __tense_timer_start(struct hrtimer *timer, ktime_t time,
			 enum hrtimer_mode mode);
int tense_timer_cancel(struct hrtimer *timer);
bool __tense_timer_now(const struct hrtimer *timer, ktime_t *now);
void __tense_clock_set(void);

static __always_inline bool tense_has(const struct task_struct *p)
{
	return static_branch_unlikely(&tense_key) && p->tense;
}

static inline void tense_enqueue(struct task_struct *p)
{
	if (tense_has(p))
		__tense_enqueue(p);
}

static inline void tense_dequeue(struct task_struct *p, bool sleep)
{
	if (tense_has(p))
		__tense_dequeue(p, sleep);
}

static inline bool tense_hold(struct task_struct *p)
{
	return tense_has(p) && __tense_hold(p);
}

static inline void tense_switch(struct task_struct *prev,
				struct task_struct *next)
{
	if (static_branch_unlikely(&tense_key) && (prev->tense || next->tense))
		__tense_switch(prev, next);
}

static inline void tense_tick(struct task_struct *p)
{
	if (tense_has(p))
		__tense_tick(p);
}

static inline void tense_dup(struct task_struct *p)
{
	p->tense = NULL;
	p->tense_accounted = 0;
}

static inline int tense_fork(struct task_struct *p)
{
	return tense_has(current) ? __tense_fork(p) : 0;
}

static inline void tense_cancel_fork(struct task_struct *p)
{
	if (p->tense)
		__tense_cancel_fork(p);
}

static inline void tense_exit(void)
{
	if (tense_has(current))
		tense_detach();
}

/*
 * Returns the time from which the running task's waits count; @now if the clock
 * is real.
 */
static inline ktime_t tense_ktime(enum tense_clock_id clock, ktime_t now)
{
	if (tense_has(current))
		__tense_time(clock, &now);
	return now;
}

static inline void tense_wait_timespec(enum tense_clock_id clock,
				       struct timespec64 *ts)
{
	ktime_t now;

	if (tense_has(current) && __tense_time(clock, &now))
		*ts = ktime_to_timespec64(now);
}

/* R9: sets @ts to the running task's reading if the clock is virtual. */
static inline void tense_timespec(enum tense_clock_id clock,
				  struct timespec64 *ts)
{
	ktime_t now;

	if (tense_has(current) && __tense_now(clock, &now))
		*ts = ktime_to_timespec64(now);
}

static inline u64 tense_clock_t(u64 now)
{
	ktime_t ns;

	if (tense_has(current) && __tense_now(TENSE_MONOTONIC, &ns))
		return nsec_to_clock_t(ns);
	return now;
}

/*
 * schedule_timeout() for a task that waits in virtual time. Returns false if
 * the task has to wait in real time.
 */
static inline bool tense_schedule_timeout(long *timeout)
{
	return tense_has(current) && __tense_schedule_timeout(timeout);
}

/* Whether the timer belongs to a task, which may be in an experiment. */
static inline bool tense_timer_is_task(const struct hrtimer *timer)
{
	return static_branch_unlikely(&tense_key) && timer->is_task;
}

/* Whether the timer is queued in virtual time, or its callback runs from there. */
static inline bool tense_timer_is_virtual(const struct hrtimer *timer)
{
	if (!static_branch_unlikely(&tense_key))
		return false;
	/* A timer that changes to real time is queued there first. */
	return smp_load_acquire(&timer->tense);
}

static inline bool tense_timer_start(struct hrtimer *timer, ktime_t time,
				     enum hrtimer_mode mode)
{
	return tense_timer_is_task(timer) &&
	       (current->tense || tense_timer_is_virtual(timer)) &&
	       __tense_timer_start(timer, time, mode);
}

/*
 * Tells the time on the timer's clock if the timer runs in virtual time, or will.
 * The timer's base is not locked.
 */
static inline bool tense_timer_now(const struct hrtimer *timer, ktime_t *now)
{
	return tense_timer_is_task(timer) && __tense_timer_now(timer, now);
}

static inline void tense_clock_set(void)
{
	if (static_branch_unlikely(&tense_key))
		__tense_clock_set();
}

/* Marks soft interrupts that run at the end of a hard one: they belong to no task. */
static __always_inline void tense_irq_exit(void (*softirqs)(void))
{
	if (static_branch_unlikely(&tense_key)) {
		this_cpu_write(tense_softirq, true);
		softirqs();
		this_cpu_write(tense_softirq, false);
	} else {
		softirqs();
	}
}

#else /* !CONFIG_TENSE */

static inline void tense_enqueue(struct task_struct *p) { }
static inline void tense_dequeue(struct task_struct *p, bool sleep) { }
static inline bool tense_hold(struct task_struct *p) { return false; }
static inline void tense_switch(struct task_struct *prev,
				struct task_struct *next) { }
static inline void tense_tick(struct task_struct *p) { }
static inline void tense_dup(struct task_struct *p) { }
static inline int tense_fork(struct task_struct *p) { return 0; }
static inline void tense_cancel_fork(struct task_struct *p) { }
static inline void tense_exit(void) { }

static inline ktime_t tense_ktime(enum tense_clock_id clock, ktime_t now)
{
	return now;
}

static inline void tense_wait_timespec(enum tense_clock_id clock,
				       struct timespec64 *ts)
{
}

static inline void tense_timespec(enum tense_clock_id clock,
				  struct timespec64 *ts)
{
}

static inline u64 tense_clock_t(u64 now)
{
	return now;
}

static inline bool tense_schedule_timeout(long *timeout)
{
	return false;
}

static inline bool tense_timer_is_task(const struct hrtimer *timer)
{
	return false;
}

static inline bool tense_timer_is_virtual(const struct hrtimer *timer)
{
	return false;
}

static inline bool tense_timer_start(struct hrtimer *timer, ktime_t time,
				     enum hrtimer_mode mode)
{
	return false;
}

static inline int tense_timer_cancel(struct hrtimer *timer)
{
	return 0;
}

static inline bool tense_timer_now(const struct hrtimer *timer, ktime_t *now)
{
	return false;
}

static inline void tense_clock_set(void) { }

static __always_inline void tense_irq_exit(void (*softirqs)(void))
{
	softirqs();
}

#endif /* CONFIG_TENSE */

static inline ktime_t tense_ktime_get(void)
{
	return tense_ktime(TENSE_MONOTONIC, ktime_get());
}

static inline time64_t tense_seconds(time64_t now)
{
	struct timespec64 ts = { .tv_sec = now };

	tense_timespec(TENSE_REALTIME, &ts);
	return ts.tv_sec;
}

#endif /* _LINUX_TENSE_H */
