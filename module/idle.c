// SPDX-License-Identifier: GPL-2.0
/*
 * R5: decides whether an idle experiment may skip time. It may unless a task waits
 * for the outside, which this file finds out from the task's system call.
 *
 * exp->lock protects t->outside and their number, vc.outside.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "tense.h"

/* Whether the pipe is younger than the experiment: an older one may lead out of it. */
static bool is_own_pipe(const struct tense_experiment *exp, unsigned int fd)
{
	const struct inode *inode;
	bool own = false;
	struct file *file;
	s64 made;

	rcu_read_lock();
	file = compat_lookup_fd(fd);
	inode = file ? file_inode(file) : NULL;
	if (inode && S_ISFIFO(inode->i_mode)) {
		made = compat_ctime_ns(inode);
		/* The file system stamps files with the time of the last tick. */
		own = made > (s64)tense_clock_of(exp, TENSE_REALTIME,
						 TICK_NSEC);
	}
	rcu_read_unlock();
	return own;
}

static bool is_own_wait(const struct tense_experiment *exp, long call,
			const unsigned long *args)
{
	switch (call) {
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
	case __NR_lseek:
	case __NR_pause:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_futex:
#ifdef __NR_futex_waitv
	case __NR_futex_waitv:
#endif
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_msgsnd:
	case __NR_msgrcv:
	case __NR_mq_timedsend:
	case __NR_mq_timedreceive:
		return true;
	case __NR_poll:
	case __NR_ppoll:
		return !args[1];
	case __NR_select:
	case __NR_pselect6:
		return !args[0];
	case __NR_read:
	case __NR_write:
	case __NR_readv:
	case __NR_writev:
		return is_own_pipe(exp, args[0]);
	default:
		return false;
	}
}

/*
 * A parent waits in vfork() until its child, a task of the experiment, exits or
 * executes a program. Only a fatal signal interrupts this wait. A wait for a lock
 * of the memory in these calls is of the same kind, and another task ends it.
 */
static bool waits_for_child(long call)
{
	unsigned int state = READ_ONCE(current->__state);

	/* A stopped task has one of the bits. A wait for a disk is in_iowait. */
	if ((state & TASK_KILLABLE) != TASK_KILLABLE || current->in_iowait)
		return false;
	switch (call) {
	case __NR_vfork:
	case __NR_clone:
	case __NR_clone3:
		return true;
	default:
		return false;
	}
}

/**
 * tense_waits_outside() - whether only the outside may end the coming wait
 * @t: the running task, which is about to wait
 *
 * Return: true if that may be so.
 */
bool tense_waits_outside(struct tense_task *t)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long args[6];
	long call;

	/* The registers of such a task show no system call, or another numbering. */
	if (current->flags & (PF_EXITING | PF_KTHREAD | COMPAT_PF_WORKER) ||
	    in_compat_syscall())
		return true;
	call = syscall_get_nr(current, regs);
	/*
	 * Signals do not end this wait: it is for a device, or for a task that uses
	 * one.
	 */
	if (!(READ_ONCE(current->__state) & TASK_INTERRUPTIBLE))
		return !waits_for_child(call);
	syscall_get_arguments(current, regs, args);
	/* A stop, or a debugger, interrupted a wait that goes on: a sleep, poll() or futex(). */
	if (call != __NR_restart_syscall)
		t->waited_outside = !is_own_wait(t->exp, call, args);
	return t->waited_outside;
}

/* Counts the task as one past which no time is skipped, or no longer does. */
void tense_set_outside(struct tense_task *t, bool outside)
{
	lockdep_assert_held(&t->exp->lock);

	if (t->outside == outside)
		return;
	WRITE_ONCE(t->outside, outside);
	if (outside)
		t->exp->vc.outside++;
	else
		t->exp->vc.outside--;
}
