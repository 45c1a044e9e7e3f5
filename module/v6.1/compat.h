/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces of Linux 6.1 that later kernels changed. */
#ifndef TENSE_COMPAT_H
#define TENSE_COMPAT_H

#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/timerqueue.h>

/* Flags of tasks that run in the kernel only, with the memory of a program. */
#define COMPAT_PF_WORKER	PF_IO_WORKER

/* Timers of tasks, ordered by their expiry. */
struct compat_queue {
	struct timerqueue_head head;
};

static inline void compat_queue_init(struct compat_queue *queue)
{
	timerqueue_init_head(&queue->head);
}

/* Returns the timer that expires first, or NULL. */
static inline struct hrtimer *compat_queue_first(struct compat_queue *queue)
{
	struct timerqueue_node *node = timerqueue_getnext(&queue->head);

	return node ? container_of(node, struct hrtimer, node) : NULL;
}

/* Returns true if the timer is now the first. */
static inline bool compat_queue_add(struct compat_queue *queue,
				    struct hrtimer *timer)
{
	WRITE_ONCE(timer->state, HRTIMER_STATE_ENQUEUED);
	return timerqueue_add(&queue->head, &timer->node);
}

static inline void compat_queue_del(struct compat_queue *queue,
				    struct hrtimer *timer)
{
	timerqueue_del(&queue->head, &timer->node);
	WRITE_ONCE(timer->state, HRTIMER_STATE_INACTIVE);
}

static inline enum hrtimer_restart compat_timer_call(struct hrtimer *timer)
{
	return timer->function(timer);
}

static inline void
compat_timer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

/* Whether a task that blocks waits for a mutex of the kernel. This kernel does not tell. */
static inline bool compat_waits_for_mutex(const struct task_struct *task)
{
	return false;
}

/* Caller holds the lock of the memory map for writing. */
static inline void compat_vm_flags_mod(struct vm_area_struct *vma,
				       unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

static inline struct file *compat_fd_file(struct fd f)
{
	return f.file;
}

/*
 * Returns the running task's open file, or NULL. Caller is in an RCU read-side
 * section, takes no reference, and only reads fields of the inode.
 */
static inline struct file *compat_lookup_fd(unsigned int fd)
{
	return lookup_fd_rcu(fd);
}

/* Whether the running task lets others of its user read its memory. */
static inline bool compat_is_dumpable(void)
{
	return current->mm && get_dumpable(current->mm) == SUID_DUMP_USER;
}

/* Returns the path by which the program opened the file. */
static inline const struct path *compat_file_path(struct file *file)
{
	return &file->f_path;
}

/* Returns the time at which the inode changed last. */
static inline s64 compat_ctime_ns(const struct inode *inode)
{
	return timespec64_to_ns(&inode->i_ctime);
}

#endif
