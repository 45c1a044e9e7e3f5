/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Tense: run programs in virtual time.
 *
 * The whole interface is the character device /dev/tense, mode 0660, group
 * tense. Times are nanoseconds of virtual time since the experiment began.
 * Percent is the speed of a thread relative to real: 200 = imagined twice as
 * fast, so that one virtual ns passes for two real ones.
 *
 * An experiment is a set of threads that share one virtual timeline. A thread
 * is in at most one. A new thread or process joins its parent's, with its
 * parent's percent, and needs no descriptor for it.
 *
 * open(2)
 *	The calling thread joins the experiment of its thread group if a
 *	sibling is in one. Otherwise it joins that of its parent process if the
 *	same user owns it, else a new one. A thread that is in an experiment
 *	already stays there and gets a further handle.
 *	With O_NONBLOCK, the thread joins nothing. It may then join an
 *	experiment by its name, see write(2).
 *	A handle refers to the device, not to a thread: each of the calls below
 *	works on the calling thread.
 *	-EDQUOT		the user has as many threads in experiments as the
 *			module's parameter tasks_max allows. fork(2) and
 *			clone(2) of a thread in an experiment also return it
 *	-EMFILE		the user has as many experiments as experiments_max
 *			allows
 *	-ENOMEM		no memory
 *	-ENODEV		the kernel cannot scale the thread: it is not in the
 *			fair scheduling class
 *
 * Time
 *	For a thread in an experiment, these show or take virtual time:
 *	- the clocks CLOCK_REALTIME, _MONOTONIC, _BOOTTIME, _TAI, _RAW and the
 *	  coarse ones, as system calls tell them. Each shows the value of the
 *	  real one when the experiment began plus the virtual time since, and
 *	  follows when the real one is set;
 *	- every wait with a time-out that a signal may end;
 *	- the timers that the thread arms: timerfd_settime(2), timer_settime(2),
 *	  setitimer(2), alarm(2).
 *	CPU time is the charged time. A jump counts as CPU time as long as the
 *	thread's CPU time is below 2^50 ns.
 *	A program that is executed in an experiment gets no vDSO, which would
 *	read real clocks. Waits of the kernel itself, and timers on
 *	CLOCK_REALTIME_ALARM and _BOOTTIME_ALARM, take real time. When the last
 *	thread leaves, timers that others can still see continue in real time.
 *
 * write(2)
 *	A decimal number sets the percent of the calling thread: at most 15
 *	bytes, optionally ended by one newline. The time before the call is
 *	charged at the old percent. Returns the number of bytes, all of them.
 *	-EINVAL		not a decimal number, or not in 1..100000; the old
 *			percent stays
 *	-EFAULT		bad address
 *	-ESRCH		the calling thread is in no experiment
 *
 *	"clocks ordered" or "clocks unordered" chooses the order of readings on
 *	different CPUs between threads that communicate only by memory. The
 *	default is ordered if there are several CPUs. Unordered, a reading may
 *	be up to a window earlier than one before it on another CPU. The
 *	wake-up of a task that slept, a fork and a migration order readings in
 *	both cases.
 *	-EINVAL		another text
 *	"clocks all", "clocks monotonic" or "clocks none" chooses which clocks
 *	of the experiment are virtual, and with them the waits by these clocks.
 *	"monotonic" leaves out those that tell the time of day: CLOCK_REALTIME
 *	and _TAI. A timer that is armed already stays as it is.
 *	-EINVAL		another text
 *
 *	"idle real" or "idle skip" chooses how virtual time passes while no
 *	thread of the experiment can run. It follows real time, or it jumps to
 *	the next deadline unless a thread waits for the outside. These waits are
 *	not for the outside: a sleep; a wait for a signal, a child, a futex, a
 *	semaphore or a message queue; a wait on a pipe that is younger than the
 *	experiment. All other waits are.
 *	-EINVAL		another text
 *	-EPERM		for clocks and idle: another user owns the experiment
 *
 *	"join NAME" lets a thread that is in no experiment join the one of this
 *	name, or a new one that gets the name. A name has 1 to TENSE_NAME_MAX
 *	letters and digits of ASCII, dots, underscores and hyphens. It belongs to
 *	a real user id in a user namespace: an equal name of another user is
 *	another experiment. It lasts until the last thread that is not exiting
 *	has left. The thread starts at GVT, at percent 100, and leaves when it
 *	closes this handle. In a thread that is in the experiment of this name,
 *	the call changes nothing.
 *	-EBUSY		the thread, or another one of its process, is in another
 *			experiment
 *	-EINVAL		another text
 *	-EPERM		the effective or saved user or group id is not the real
 *			one, or another user opened the handle
 *	-EDQUOT, -EMFILE, -ENODEV, -ENOMEM	as of open(2)
 *
 *	"own" begins work of Tense's own in the calling thread, such as the set-up
 *	of its area. The thread is not charged until its next lseek(2), or until
 *	it has run for 4 ms. A program that it executes is charged, and so is a
 *	child. Meanwhile tense_clock.flags lacks TENSE_CLOCK_VALID.
 *	-EINVAL		another text
 *
 *	"probe SLOT PERCENT FD OFFSET", decimal, in at most 63 bytes, runs a
 *	function at a percent of its own, by breakpoints. The function begins
 *	at OFFSET of the regular file that is open for reading as FD. It runs at
 *	PERCENT, in thousandths, of the percent outside of it, and is counted
 *	in SLOT, 1 to 15. This holds in the calling process from now on, and in
 *	each process of the experiment that maps the file later. A function that
 *	calls itself is entered once. A probe lasts as long as the experiment.
 *	With SLOT 0 the kernel learns the cost of a probe, in order to refund
 *	it. OFFSET is then an empty function that is called in a loop.
 *	-EBADF		FD is not open for reading
 *	-EPERM		the caller lacks CAP_PERFMON, and the module was loaded
 *			without user_probes
 *	-EINVAL		another text, a number out of its range, not a regular
 *			file, OFFSET is not in it, or no breakpoint can be there
 *	-EIO, -ENOMEM	the file or the memory does not allow it
 *	-ENOSPC		more than TENSE_PROBES_MAX probes in the experiment
 *	-EOPNOTSUPP	the kernel has no such breakpoints
 *
 * lseek(2)	returns the thread's virtual time after the call
 *	SEEK_CUR d	jump: charge d ns as if the thread had run them. d = 0
 *			reads the clock. From some such calls in a row, the
 *			kernel learns the cost of a call. From then on it
 *			refunds this for each call of the experiment. d < 0 is
 *			credit: the next -d virtual ns of this thread are not
 *			charged, its time stands still and never goes back. Its
 *			time also stands still on a CPU whose time is behind
 *			the time that the thread saw: there, d counts from the
 *			time of that CPU.
 *	SEEK_SET t	jump to t. -EINVAL if more than t was charged already.
 *	SEEK_HOLE d	sleep for d ns of virtual time, 0 returns at once.
 *			-EINTR	a signal handler ran; the clock tells the
 *				remaining time
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
 * mmap(2)
 *	The calling thread's area, by which it changes its percent and reads
 *	its clock without a system call; see below. Shared, of whole pages:
 *	offset 0, one page, PROT_READ		struct tense_clock
 *	offset TENSE_RING_OFFSET, up to
 *	TENSE_RING_SIZE bytes, read and write	struct tense_ring
 *	offset TENSE_SHARED_OFFSET,
 *	TENSE_SHARED_SIZE bytes, read and write	struct tense_shared
 *	The area lasts until the thread leaves the experiment. Threads do not
 *	inherit it. Processes do not either: a fork does not copy the mappings.
 *	-EACCES		PROT_WRITE, or PROT_EXEC, where it is not allowed
 *	-EDQUOT		the user has as many areas as areas_max allows
 *	-EINVAL		not shared, another offset or size
 *	-ENOMEM		no memory
 *	-EOPNOTSUPP	the machine has no counter that all its CPUs share
 *	-ESRCH		the calling thread is in no experiment
 *
 * close(2), also by exec with O_CLOEXEC
 *	A thread that joined by a handle leaves when it closes the handle it
 *	joined by, or a copy of it. Every thread leaves when it exits, however
 *	it dies. A thread also leaves when it executes a program that gives it
 *	more privileges, as set-user-ID does: that program runs in real time.
 *	When the last thread has left, the experiment is gone. Closing any other
 *	handle changes nothing.
 *
 * The module cannot be removed (-EBUSY, -EAGAIN) while a handle is open or a
 * thread is in an experiment.
 *
 * The fast path. The counter is the time-stamp counter. A change of percent
 * is a record in the ring: the thread writes record[head % TENSE_RING_RECORDS]
 * and then, with release order, head + 1. Whenever the kernel charges the
 * thread, it takes the new records. It splits the stretch since the last charge
 * at their stamps, in proportion to the counter. It clamps each stamp to this
 * stretch, and to be no earlier than the stamp before it. So a bad record can
 * only misplace its own thread's time. There is room as long as head -
 * tense_clock.tail < TENSE_RING_RECORDS; any call of the device makes room. An
 * invalid percent leaves the old one. An invalid slot is slot 0.
 *
 * A record sets the slot of the thread from then on, and tense_stats counts by
 * slot. While its slot is not 0, a thread may start threads and, by exec,
 * programs: these begin in slot 0 with the percent that held there. A process
 * that it forks is still in the slot. The "own" ticks before a record's stamp
 * are Tense's work. The kernel does not charge them, as far as they are after
 * the stamp of the record before.
 *
 * A deadline must not be late because a change is still in the ring. So the
 * thread stores the smallest percent that it uses in tense_ring.lowest, and
 * then makes any call of the device. It does so before the first record with
 * that percent.
 *
 * A thread reads the page while seq is even, and the same before and after. The
 * virtual time is the latest of
 *	- floor;
 *	- tense_ring.shown;
 *	- ns + (counter - tense_clock.counter) * rate / percent * 100000 / 2^32
 *	  less credit, with records from tail on taken into account as above.
 * Only lseek(2) can tell the time in three cases: flags lack TENSE_CLOCK_VALID,
 * the counter is more than stale ticks further, or the third of these times is
 * more than ahead ns after ns. A clock shows the time plus its origin if its bit
 * in clocks, 1 << TENSE_ORIGIN_*, is set; else it is the real one.
 *
 * No reading is earlier than one that happened before it. The counter also runs
 * on while the thread does not run. So a reading may be ahead of the time that
 * is charged later: by ahead ns at most. Later readings are no earlier. Nothing
 * else depends on a reading: the kernel does not charge it, and no deadline counts
 * from it. To order its readings, the thread
 *	- stores each in tense_ring.shown before it uses it. The kernel passes it
 *	  to threads that run later on the same CPU, to those that the thread
 *	  wakes, and to those that it creates. The kernel ignores a value that no
 *	  page can have shown: more than 2 * ahead ns beyond the charged time and,
 *	  if limit is not 0, beyond limit;
 *	- if limit is not 0, reads no earlier time than tense_shared.latest, and
 *	  raises that to its reading. If latest is beyond limit, only lseek(2) can
 *	  tell the time: the kernel ignores a value that is more than a window and
 *	  100 ms beyond GVT.
 */
#ifndef _UAPI_LINUX_TENSE_H
#define _UAPI_LINUX_TENSE_H

#include <linux/const.h>
#include <linux/types.h>

#define TENSE_DEVICE		"/dev/tense"

#define TENSE_PERCENT_MIN	1
#define TENSE_PERCENT_REAL	100
#define TENSE_PERCENT_MAX	100000
/* The fast path has percents in thousandths. */
#define TENSE_FINE		1000

#define TENSE_WINDOW_MIN_NS	20000
#define TENSE_WINDOW_NS		500000
#define TENSE_WINDOW_MAX_NS	100000000

/* The longest name of an experiment. */
#define TENSE_NAME_MAX		32

/* Far below S64_MAX, so that a sum of two valid times cannot overflow. */
#define TENSE_TIME_MAX		_BITULL(62)

#define TENSE_EXITED_MAX	1024

#define TENSE_RING_OFFSET	4096
#define TENSE_RING_RECORDS	2048
#define TENSE_RING_SIZE		36864
#define TENSE_SHARED_OFFSET	40960
#define TENSE_SHARED_SIZE	4096

/* tense_clock.flags */
#define TENSE_CLOCK_VALID	1	/* the clock can be read from the page */
#define TENSE_CLOCK_MEMBER	2	/* until the thread leaves */

/* The version of struct tense_clock, tense_ring and tense_shared. */
#define TENSE_CLOCK_VERSION	2

/* tense_clock.origin, and bits of tense_clock.clocks */
#define TENSE_ORIGIN_MONOTONIC	0
#define TENSE_ORIGIN_REALTIME	1
#define TENSE_ORIGIN_BOOTTIME	2
#define TENSE_ORIGIN_TAI	3
#define TENSE_ORIGIN_RAW	4
#define TENSE_ORIGINS		5

struct tense_clock {
	__u32 seq;
	__u32 flags;		/* TENSE_CLOCK_* */
	__u64 counter;
	__u64 ns;		/* virtual: charged up to counter */
	__u64 floor;		/* virtual: no reading is earlier */
	__u64 credit;		/* virtual: time stands still for so long */
	__u64 rate;		/* real ns per tick, times 2^32 */
	__u64 stale;		/* ticks */
	__u64 ahead;		/* virtual ns that a reading may be beyond ns */
	__u64 limit;		/* virtual; 0: not ordered across CPUs */
	__u32 percent;		/* times TENSE_FINE */
	__u32 tail;		/* records that the kernel has taken */
	__u32 clocks;		/* bits of the clocks that are virtual */
	__u32 version;		/* TENSE_CLOCK_VERSION */
	__s64 origin[TENSE_ORIGINS];	/* their values at virtual time 0 */
};

/* tense_record.flags */
#define TENSE_RECORD_CALL	1	/* counts as a call in slot */
#define TENSE_RECORD_STAY	2	/* the slot is only for the count */

struct tense_record {
	__u64 stamp;		/* counter */
	__u32 percent;		/* times TENSE_FINE */
	__u16 own;		/* ticks */
	__u8 slot;
	__u8 flags;		/* TENSE_RECORD_* */
};

struct tense_ring {
	__u32 head;
	__u32 lowest;		/* percent times TENSE_FINE; 0: never under
				 * the current one
				 */
	__u64 shown;		/* virtual: latest time that the thread saw */
	__u32 reserved[1020];
	struct tense_record record[TENSE_RING_RECORDS];
};

/* All threads of an experiment map the same page. */
struct tense_shared {
	__u64 latest;		/* virtual: latest time that any of them saw */
};

#define TENSE_SLOTS		16
#define TENSE_PROBES_MAX	1024

#define TENSE_STATS_VERSION	4

/* tense_stats.flags */
#define TENSE_STATS_OWNER	1	/* the calling thread joined by a handle */

/* All times in ns; "virtual" marks those on the virtual timeline. */
struct tense_slot {
	__u64 calls;		/* records with TENSE_RECORD_CALL */
	__u64 ran;		/* real, overhead excluded */
	__u64 charged;		/* virtual */
};

struct tense_stats {
	__u32 version;		/* TENSE_STATS_VERSION */
	__u32 size;		/* of this struct */
	__u32 thread_size;	/* of struct tense_thread */
	__u32 threads;		/* records that follow in a buffer long enough */
	__u64 gvt;		/* virtual */
	__u64 lvt;		/* virtual: the calling thread's charged time;
				 * its readings may be ahead
				 */
	__u64 window;		/* virtual: bound on LVT - GVT */
	__u64 skew;		/* virtual: worst LVT - GVT seen */
	__u64 over_user;	/* virtual: worst LVT - GVT - window at which a
				 * thread was stopped in its own code
				 */
	__u64 over_kernel;	/* the same in the kernel, which the thread has
				 * to leave before it stops
				 */
	__u64 elapsed;		/* real, since the experiment began */
	__u64 charged;		/* virtual, all threads */
	__u64 ran;		/* real, all threads, overhead excluded */
	__u64 gated;		/* real, all threads */
	__u64 overhead;		/* real: Tense's own work, not charged */
	__u64 call;		/* real: estimated cost of entering and leaving
				 * one call of this device, refunded for
				 * each; 0 until calibrated
				 */
	__u64 deadlines;	/* deadlines that fired */
	__u32 tasks;		/* in the experiment now */
	__u32 tasks_total;	/* that were ever in it */
	__u32 percent;		/* of the calling thread */
	__u32 flags;		/* TENSE_STATS_* */
	struct tense_slot slot[TENSE_SLOTS];	/* all threads; 0: no slot */
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
