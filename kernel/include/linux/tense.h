/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tense: hooks by which a module charges tasks for virtual time.
 *
 * A task that is in an experiment has task_struct.tense set; all others, and
 * all tasks while no module is registered, pay for one static branch.
 *
 * task_struct.tense of a task is written only by the task itself, under its
 * runqueue's lock, or by its parent before it first runs. It may be read by
 * the task itself, under its runqueue's lock, and, while it is blocked, under
 * its pi_lock. Each task with it set holds a reference to the module.
 */
#ifndef _LINUX_TENSE_H
#define _LINUX_TENSE_H

#include <linux/jump_label.h>
#include <linux/sched.h>

struct callback_head;
struct module;
struct sched_entity;
struct tense_task;

#ifdef CONFIG_TENSE

/**
 * struct tense_ops - what a module does at the hooks
 * @owner: the module
 * @charge: the task ran for so many ns; returns what the fair class is to
 *	take them for. Runqueue locked.
 * @enqueue: the task is runnable on a CPU, maybe another one than before.
 *	Runqueue locked.
 * @dequeue: the task has stopped to wait. Runqueue locked.
 * @hold: current, or an interrupt, wakes the blocked task; true if it is
 *	to sleep on, until the module wakes it. pi_lock held.
 * @switched: the CPU is about to run the second task instead of the first,
 *	either of which may be NULL. Runqueue locked.
 * @tick: the task has just been charged by the tick. Runqueue locked.
 * @fork: the task, which is running, creates the child; returns the child's
 *	part or NULL if there is no memory. May sleep.
 * @leave: the part no longer belongs to a task and may be freed. May sleep.
 */
struct tense_ops {
	struct module *owner;
	u64 (*charge)(struct tense_task *t, u64 delta);
	void (*enqueue)(struct tense_task *t, int cpu);
	void (*dequeue)(struct tense_task *t);
	bool (*hold)(struct tense_task *t);
	void (*switched)(struct tense_task *prev, struct tense_task *next);
	void (*tick)(struct tense_task *t);
	struct tense_task *(*fork)(struct tense_task *t, struct task_struct *child);
	void (*leave)(struct tense_task *t);
};

int tense_register(const struct tense_ops *ops);
void tense_unregister(const struct tense_ops *ops);

int tense_attach(struct tense_task *t);
void tense_detach(void);
void tense_settle(void);
int tense_at_return(struct callback_head *work);
void tense_not_at_return(struct callback_head *work);

DECLARE_STATIC_KEY_FALSE(tense_key);

u64 __tense_charge(struct sched_entity *se, u64 delta);
void __tense_enqueue(struct task_struct *p);
void __tense_dequeue(struct task_struct *p);
bool __tense_hold(struct task_struct *p);
void __tense_switch(struct task_struct *prev, struct task_struct *next);
void __tense_tick(struct task_struct *p);
int __tense_fork(struct task_struct *p);
void __tense_cancel_fork(struct task_struct *p);

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
	if (sleep && tense_has(p))
		__tense_dequeue(p);
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

#endif /* CONFIG_TENSE */
#endif /* _LINUX_TENSE_H */
