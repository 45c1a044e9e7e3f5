/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Tense: run programs in virtual time.
 *
 * The whole interface is the character device /dev/tense, mode 0660, group
 * tense. Times are nanoseconds of virtual time since the experiment began,
 * percent is the speed of a thread relative to real: 200 = imagined twice as
 * fast, so that one virtual ns passes for two real ones.
 *
 * An experiment is a set of threads that share one virtual timeline. A thread
 * is in at most one. A new thread or process joins its parent's, with its
 * parent's percent, and needs no descriptor for it.
 *
 * open(2)
 *	The calling thread joins: the experiment of its thread group if a
 *	sibling is in one, else that of its parent process, else a new one. A
 *	thread that is in one already stays there and gets a further handle.
 *	Handles refer to the device, not to a thread: each of the calls below
 *	works on the calling thread.
 *	-ENOMEM		no memory
 *	-ENODEV		the kernel cannot scale this thread: not in the fair
 *			scheduling class
 *
 * write(2)
 *	Sets the percent of the calling thread: decimal text, optionally ended
 *	by one newline, at most 15 bytes. What ran before the call is charged
 *	at the old percent. Returns the number of bytes, all of them.
 *	-EINVAL		not a decimal number, or not in 1..100000; the old
 *			percent stays
 *	-EFAULT		bad address
 *	-ESRCH		the calling thread is in no experiment
 *
 * lseek(2)	returns the thread's virtual time after the call
 *	SEEK_CUR d	jump: charge d ns as if the thread had run them. d = 0
 *			reads the clock. d < 0 is credit: the next -d virtual
 *			ns of this thread are not charged, its time stands
 *			still and never goes back.
 *	SEEK_SET t	jump to t. -EINVAL if t is in the past.
 *	SEEK_HOLE d	sleep for d ns of virtual time, 0 returns at once.
 *			-EINTR	a signal handler ran; the remaining time is
 *				known from the clock
 *			-EINVAL	d < 0
 *	SEEK_DATA d	-EOPNOTSUPP: predicted I/O is not implemented yet
 *	SEEK_END	-EINVAL
 *	-EOVERFLOW	the time after the call would pass TENSE_TIME_MAX
 *	-ESRCH		the calling thread is in no experiment
 *
 * read(2)
 *	struct tense_stats, then one struct tense_thread for each thread as
 *	far as the buffer reaches: those alive first, then the last
 *	TENSE_EXITED_MAX that left. The file position is ignored. Returns the
 *	number of bytes.
 *	-EINVAL		the buffer is shorter than struct tense_stats
 *	-EFAULT		bad address
 *	-ENOMEM		no memory
 *	-ESRCH		the calling thread is in no experiment
 *
 * close(2), also by exec with O_CLOEXEC
 *	A thread that joined by open leaves when it closes the handle it
 *	joined by, or a copy of it. Every thread leaves when it exits, however
 *	it dies. When the last one has left, the experiment is gone. Closing
 *	any other handle changes nothing.
 *
 * The module cannot be removed (-EBUSY, -EAGAIN) while a handle is open or a
 * thread is in an experiment.
 */
#ifndef _UAPI_LINUX_TENSE_H
#define _UAPI_LINUX_TENSE_H

#include <linux/const.h>
#include <linux/types.h>

#define TENSE_DEVICE		"/dev/tense"

#define TENSE_PERCENT_MIN	1
#define TENSE_PERCENT_REAL	100
#define TENSE_PERCENT_MAX	100000

#define TENSE_WINDOW_MIN_NS	20000
#define TENSE_WINDOW_NS		500000
#define TENSE_WINDOW_MAX_NS	100000000

/* Far below S64_MAX, so that a sum of two valid times cannot overflow. */
#define TENSE_TIME_MAX		_BITULL(62)

#define TENSE_EXITED_MAX	1024

#define TENSE_STATS_VERSION	1

/* tense_stats.flags */
#define TENSE_STATS_OWNER	1	/* the calling thread joined by open */

/* All times in ns; "virtual" marks those on the virtual timeline. */
struct tense_stats {
	__u32 version;		/* TENSE_STATS_VERSION */
	__u32 size;		/* of this struct */
	__u32 thread_size;	/* of struct tense_thread */
	__u32 threads;		/* records that follow in a buffer long enough */
	__u64 gvt;		/* virtual */
	__u64 lvt;		/* virtual: the calling thread's time */
	__u64 window;		/* virtual: bound on LVT - GVT */
	__u64 skew;		/* virtual: worst LVT - GVT seen */
	__u64 elapsed;		/* real, since the experiment began */
	__u64 charged;		/* virtual, all threads */
	__u64 ran;		/* real, all threads, overhead excluded */
	__u64 gated;		/* real, all threads */
	__u64 overhead;		/* real: Tense's own work, not charged */
	__u64 call;		/* real: estimated cost of entering and leaving
				 * one call of this device, given back for
				 * each; 0 until calibrated
				 */
	__u64 deadlines;	/* deadlines that fired */
	__u32 tasks;		/* in the experiment now */
	__u32 tasks_total;	/* that ever were */
	__u32 percent;		/* of the calling thread */
	__u32 flags;		/* TENSE_STATS_* */
};

/* tense_thread.flags */
#define TENSE_THREAD_EXITED	1

struct tense_thread {
	__s32 pid;		/* thread id, in the reader's pid namespace */
	__s32 tgid;
	char comm[16];
	__u64 charged;		/* virtual */
	__u64 ran;		/* real, overhead excluded */
	__u64 gated;		/* real */
	__u64 overhead;		/* real */
	__u32 percent;
	__u32 flags;		/* TENSE_THREAD_* */
};

#endif /* _UAPI_LINUX_TENSE_H */
