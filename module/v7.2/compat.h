/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces of Linux 7.2 and 7.3 that differ from those of earlier kernels. */
#ifndef TENSE_COMPAT_H
#define TENSE_COMPAT_H

#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
/* Since Linux 7.3. */
#if __has_include("linux/hrtimer_bases.h")
#include <linux/hrtimer_bases.h>
#endif
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/exec_state.h>
#include <linux/timerqueue.h>

/*
 * Flags of tasks that run in the kernel only, with the memory of a program: those of
 * io_uring and vhost.
 */
#define COMPAT_PF_WORKER	(PF_IO_WORKER | PF_USER_WORKER)

/* Timers of tasks, ordered by their expiry. */
struct compat_queue {
	struct timerqueue_linked_head head;
};

static inline void compat_queue_init(struct compat_queue *queue)
{
	timerqueue_linked_init_head(&queue->head);
}

/* Returns the timer that expires first, or NULL. */
static inline struct hrtimer *compat_queue_first(struct compat_queue *queue)
{
	struct timerqueue_linked_node *node = timerqueue_linked_first(&queue->head);

	return node ? container_of(node, struct hrtimer, node) : NULL;
}

/* Returns true if the timer is now the first. */
static inline bool compat_queue_add(struct compat_queue *queue,
				    struct hrtimer *timer)
{
	WRITE_ONCE(timer->is_queued, true);
	return timerqueue_linked_add(&queue->head, &timer->node);
}

static inline void compat_queue_del(struct compat_queue *queue,
				    struct hrtimer *timer)
{
	timerqueue_linked_del(&queue->head, &timer->node);
	WRITE_ONCE(timer->is_queued, false);
}

static inline enum hrtimer_restart compat_timer_call(struct hrtimer *timer)
{
	return ACCESS_PRIVATE(timer, function)(timer);
}

static inline void
compat_timer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_setup(timer, function, clock, mode);
}

/* Whether a task that blocks waits for a mutex of the kernel. Semaphores do not tell. */
static inline bool compat_waits_for_mutex(const struct task_struct *task)
{
	return READ_ONCE(task->blocked_on);
}

/* Caller holds the lock of the memory map for writing. */
static inline void compat_vm_flags_mod(struct vm_area_struct *vma,
				       unsigned long set, unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}

static inline struct file *compat_fd_file(struct fd f)
{
	return fd_file(f);
}

/*
 * Returns the running task's open file, or NULL. Caller is in an RCU read-side
 * section, takes no reference, and only reads fields of the inode.
 */
static inline struct file *compat_lookup_fd(unsigned int fd)
{
	return files_lookup_fd_raw(current->files, fd);
}

/* Whether the running task lets others of its user read its memory. */
static inline bool compat_is_dumpable(void)
{
	bool dumpable;

	rcu_read_lock();
	dumpable = READ_ONCE(rcu_dereference(current->exec_state)->dumpable) ==
		   TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return dumpable;
}

/*
 * Returns the path by which the program opened the file.
 * The file of a mapping on overlayfs is one of a layer.
 */
static inline const struct path *compat_file_path(struct file *file)
{
	return file_user_path(file);
}

/* Returns the time at which the inode changed last. */
static inline s64 compat_ctime_ns(const struct inode *inode)
{
	struct timespec64 time = inode_get_ctime(inode);

	return timespec64_to_ns(&time);
}

#endif
