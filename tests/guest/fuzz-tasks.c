// SPDX-License-Identifier: GPL-2.0
/*
 * Part of guest-fuzz: tasks that come, go, wait, and change their scheduling.
 */
#include "fuzz.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#define STACKS 12
#define STACK_SIZE (64 * 1024)

/*
 * Threads, and children that share the memory, use these. The kernel clears the
 * word when the task is gone.
 */
static struct stack {
	_Atomic pid_t taken;
	char memory[STACK_SIZE] __attribute__((aligned(16)));
} stacks[STACKS];

/* The process has been forked: only the caller's stack is one. */
static void stacks_forget(const struct task *t)
{
	for (size_t i = 0; i < STACKS; i++)
		if ((char *)t < stacks[i].memory ||
		    (char *)t >= stacks[i].memory + STACK_SIZE)
			stacks[i].taken = 0;
}

static struct stack *stack_take(void)
{
	for (size_t i = 0; i < STACKS; i++) {
		pid_t none = 0;

		if (atomic_compare_exchange_strong(&stacks[i].taken, &none, -1))
			return &stacks[i];
	}
	return NULL;
}

/* --- tasks that begin --- */

/* The program anew, as the same task. */
static void exec_self(struct task *t)
{
	char seed[24], slot[16], taker[24], name[] = "guest-fuzz", option[] = "--task";
	char *arguments[] = { name, option, seed, slot, taker, NULL };
	char *environment[] = { NULL };

	snprintf(seed, sizeof(seed), "%lu", next(t));
	snprintf(slot, sizeof(slot), "%d", t->slot);
	snprintf(taker, sizeof(taker), "%lu", fuzz->slot[t->slot].who);
	call(SYS_execve, "/proc/self/exe", arguments, environment);
}

static int child_main(void *argument)
{
	struct task *t = argument;

	task_run(t);
	/* Not before the memory that the others share may be left. */
	return 0;
}

/* With memory of its parent's: a thread, or a process. */
static long begin_sharing(struct task *t, int flags)
{
	struct stack *stack = stack_take();
	who_t taker = who_am_i();
	int slot = stack ? slot_take(taker) : -1;
	struct task *child;
	long pid;

	if (slot < 0) {
		if (stack)
			stack->taken = 0;
		return -EAGAIN;
	}
	/* Above what the child's stack begins with. */
	child = (void *)(stack->memory + STACK_SIZE - sizeof(*child) - 64);
	task_begin(child, next(t), slot, taker);
	child->fd = t->fd;
	child->timer_fd = t->timer_fd;
	child->timer = t->timer;
	pid = clone(child_main, (char *)child - 64, flags | CLONE_VM |
		    CLONE_CHILD_CLEARTID, child, NULL, NULL, &stack->taken);
	if (pid < 0) {
		fuzz->slot[slot].who = 0;
		stack->taken = 0;
	}
	return pid;
}

static long task_thread(struct task *t)
{
	return begin_sharing(t, CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			     CLONE_THREAD | CLONE_SYSVSEM);
}

static long task_vfork(struct task *t)
{
	return begin_sharing(t, SIGCHLD | (one_in(t, 2) ? CLONE_VFORK : 0) |
			     (one_in(t, 2) ? CLONE_FILES : 0));
}

static long task_fork(struct task *t)
{
	static const int flags[] = { 0, 0, 0, CLONE_FILES, CLONE_PARENT, CLONE_FS };
	uint64_t seed = next(t);
	who_t taker = who_am_i();
	int slot = slot_take(taker), fd = t->fd;
	long pid;

	if (slot < 0)
		return -EAGAIN;
	pid = call(SYS_clone, SIGCHLD | any(t, flags));
	if (pid < 0) {
		fuzz->slot[slot].who = 0;
		return pid;
	}
	if (pid > 0)
		return pid;
	stacks_forget(t);
	area_forget(t);
	task_begin(t, seed, slot, taker);
	t->fd = fd;
	if (one_in(t, 4))
		exec_self(t);
	task_run(t);
	call(SYS_exit_group, 0);
	return 0;
}

static long task_exec(struct task *t)
{
	exec_self(t);
	return -ENOEXEC;
}

static long task_unshare(struct task *t)
{
	/* Closing the others' handle of its own is not this task's business. */
	return call(SYS_unshare, one_in(t, 2) ? CLONE_FILES : CLONE_FS);
}

/* --- tasks that end --- */

static long task_exit(struct task *t)
{
	static const int fatal[] = { SIGKILL, SIGSEGV, SIGTERM, SIGILL };

	if (one_in(t, 2))
		t->left = 0;
	else if (one_in(t, 2))
		call(SYS_exit_group, 1);
	else
		call(SYS_kill, call(SYS_getpid), any(t, fatal));
	return 0;
}

static long task_signal(struct task *t)
{
	static const int signals[] = {
		SIGUSR1, SIGUSR1, SIGUSR1, SIGSTOP, SIGCONT, SIGCONT, SIGKILL,
		SIGALRM,
	};
	who_t who = fuzz->slot[below(t, TASKS_MAX)].who;
	int sig = any(t, signals);

	if (tid_of(who) <= 0)
		return -ESRCH;
	return call(SYS_tgkill, tgid_of(who), tid_of(who), sig);
}

static long task_wait(struct task *t)
{
	return call(SYS_wait4, -1, NULL, one_in(t, 4) ? 0 : WNOHANG, NULL);
}

/* --- scheduling --- */

static pid_t any_tid(struct task *t)
{
	pid_t tid = tid_of(fuzz->slot[below(t, TASKS_MAX)].who);

	return one_in(t, 2) || tid <= 0 ? 0 : tid;
}

static long task_affinity(struct task *t)
{
	unsigned long mask = one_in(t, 3) ? 3 : 1 + below(t, 2);

	return call(SYS_sched_setaffinity, any_tid(t), sizeof(mask), &mask);
}

/*
 * Avoids a defect of Linux 6.1, which it has without Tense, too. Another task takes
 * a throttled task out of the deadline class. The mark that it is throttled stays.
 * The task later returns to that class and sleeps. Then it never runs again, because
 * no timer ends the throttling. So no task changes the class of another one that may
 * be in the deadline class. Each of the two first says what it is about to do, then
 * looks at what the other one said.
 */
static bool may_change_class(struct task *t, pid_t tid)
{
	fuzz->slot[t->slot].changes = tid;
	return !tid || !fuzz->deadline[tid % TIDS_MAX];
}

static bool may_enter_deadline_class(void)
{
	who_t who = who_am_i();

	fuzz->deadline[tid_of(who) % TIDS_MAX] = true;
	/* A thread that executes a program goes on under this number. */
	fuzz->deadline[tgid_of(who) % TIDS_MAX] = true;
	for (int i = 0; i < TASKS_MAX; i++)
		if (fuzz->slot[i].changes == tid_of(who) ||
		    fuzz->slot[i].changes == tgid_of(who))
			return false;
	return true;
}

static long task_class(struct task *t)
{
	static const int classes[] = {
		SCHED_OTHER, SCHED_OTHER, SCHED_OTHER, SCHED_BATCH, SCHED_IDLE,
		SCHED_FIFO, SCHED_RR,
	};
	int class = any(t, classes);
	struct sched_param p = { 0 };
	pid_t tid = any_tid(t);
	long result = -EPERM;

	if (class == SCHED_FIFO || class == SCHED_RR)
		p.sched_priority = 1 + below(t, 30);
	if (one_in(t, 8))
		class |= SCHED_RESET_ON_FORK;
	if (may_change_class(t, tid))
		result = call(SYS_sched_setscheduler, tid, class, &p);
	fuzz->slot[t->slot].changes = 0;
	return result;
}

static long task_deadline_class(struct task *t)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {
		.size = sizeof(attr),
		.policy = 6,
		/* Else it could not fork. */
		.flags = 1,
		.runtime = MS,
		.deadline = 10 * MS,
		.period = 10 * MS,
	};
	unsigned long mask = 3;

	(void)t;
	if (!may_enter_deadline_class())
		return -EPERM;
	call(SYS_sched_setaffinity, 0, sizeof(mask), &mask);
	return call(SYS_sched_setattr, 0, &attr, 0);
}

static long task_nice(struct task *t)
{
	return call(SYS_setpriority, 0, any_tid(t), (int)below(t, 40) - 20);
}

static long task_burn(struct task *t)
{
	for (volatile int i = any_bits(t, 16); i > 0; i--)
		;
	return 0;
}

static long task_yield(struct task *t)
{
	(void)t;
	return call(SYS_sched_yield);
}

/* --- waits --- */

static struct timespec any_time(struct task *t)
{
	int64_t ns = any_bits(t, one_in(t, 50) ? 40 : 21);

	return (struct timespec) { ns / S, ns % S };
}

static long task_nanosleep(struct task *t)
{
	static const clockid_t clocks[] = {
		CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_TAI,
		CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME_ALARM,
	};
	clockid_t clock = any(t, clocks);
	struct timespec now = { 0 }, time = any_time(t);
	int flags = one_in(t, 3) ? TIMER_ABSTIME : 0;

	if (flags) {
		call(SYS_clock_gettime, clock, &now);
		time.tv_sec += now.tv_sec;
		time.tv_nsec += now.tv_nsec;
		if (time.tv_nsec >= S) {
			time.tv_nsec -= S;
			time.tv_sec++;
		}
	}
	return call(SYS_clock_nanosleep, clock, flags, &time, NULL);
}

static long task_futex(struct task *t)
{
	_Atomic uint32_t *word = &fuzz->word[below(t, WORDS)];
	struct timespec time = any_time(t);

	switch (below(t, 4)) {
	case 0:
		(*word)++;
		return call(SYS_futex, word, FUTEX_WAKE, 1 + below(t, 3));
	case 1:
		return call(SYS_futex, word, FUTEX_REQUEUE, 1, 1, fuzz->word);
	case 2:
		return call(SYS_futex, word, FUTEX_WAIT, *word, NULL);
	default:
		return call(SYS_futex, word, FUTEX_WAIT, *word, &time);
	}
}

/*
 * The kernel lends the holder its waiters' priority, until it unlocks or exits.
 */
static long task_lock(struct task *t)
{
	static _Atomic uint32_t word;
	struct timespec until = any_time(t);
	long result;

	until.tv_sec += clock_ns(CLOCK_REALTIME) / S + 1;
	result = call(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0, &until);
	if (result)
		return result;
	call(SYS_lseek, t->own, 100 * 1000, one_in(t, 2) ? SEEK_CUR : SEEK_HOLE);
	return call(SYS_futex, &word, FUTEX_UNLOCK_PI_PRIVATE);
}

static long task_poll(struct task *t)
{
	struct pollfd fds[2] = { { t->fd, POLLIN, 0 },
				 { FIRST_FD + below(t, LAST_FD - FIRST_FD),
				   POLLIN, 0 } };
	struct timespec time = any_time(t);

	return call(SYS_ppoll, fds, below(t, 3), &time, NULL, 0);
}

static long task_clocks(struct task *t)
{
	struct timespec time;

	return call(SYS_clock_gettime, (int)below(t, 13), &time);
}

static long task_set_clock(struct task *t)
{
	struct timespec time;

	call(SYS_clock_gettime, CLOCK_REALTIME, &time);
	time.tv_sec += (long)below(t, 5) - 2;
	return call(SYS_clock_settime, CLOCK_REALTIME, &time);
}

/* --- timers --- */

/* A repeating timer must leave time for something else. */
static struct itimerspec any_timer(struct task *t)
{
	struct itimerspec timer = { .it_value = any_time(t) };

	if (one_in(t, 4))
		timer.it_interval.tv_sec = 1 + below(t, 100);
	return timer;
}

static const clockid_t timer_clocks[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_BOOTTIME_ALARM,
};

static long task_timerfd(struct task *t)
{
	struct itimerspec timer = any_timer(t);
	uint64_t times;
	long fd, result;

	fd = call(SYS_timerfd_create, any(t, timer_clocks),
		  TFD_CLOEXEC | (one_in(t, 4) ? 0 : TFD_NONBLOCK));
	if (fd < 0)
		return fd;
	result = call(SYS_timerfd_settime, fd,
		      one_in(t, 4) ? TFD_TIMER_ABSTIME : 0, &timer, NULL);
	t->timer_fd = fd;
	if (one_in(t, 2))
		call(SYS_read, fd, &times, sizeof(times));
	if (fd >= LAST_FD || one_in(t, 2))
		close_fd(t, fd);
	return result;
}

/* Which may be there, also if its thread got it from its parent. */
static long task_timerfd_again(struct task *t)
{
	struct itimerspec timer = any_timer(t), old;

	if (one_in(t, 3))
		return call(SYS_timerfd_gettime, t->timer_fd, &old);
	return call(SYS_timerfd_settime, t->timer_fd, 0, &timer, &old);
}

static long task_timer(struct task *t)
{
	static const int notify[] = { SIGEV_SIGNAL, SIGEV_NONE };
	struct sigevent event = {
		.sigev_notify = any(t, notify),
		.sigev_signo = SIGALRM,
	};
	struct itimerspec timer = any_timer(t);
	int id = 0;
	long result;

	result = call(SYS_timer_create, any(t, timer_clocks), &event, &id);
	if (result)
		return result;
	/* Few at a time. */
	call(SYS_timer_delete, t->timer - (int)below(t, 3));
	t->timer = id;
	return call(SYS_timer_settime, id, 0, &timer, NULL);
}

static long task_timer_again(struct task *t)
{
	struct itimerspec timer = any_timer(t), old;
	int id = t->timer - (int)below(t, 2);

	switch (below(t, 3)) {
	case 0:
		return call(SYS_timer_delete, id);
	case 1:
		return call(SYS_timer_gettime, id, &old);
	default:
		return call(SYS_timer_settime, id, 0, &timer, &old);
	}
}

static long task_itimer(struct task *t)
{
	static const int which[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
	struct timespec time = any_time(t);
	struct itimerval timer = {
		.it_value = { time.tv_sec, time.tv_nsec / 1000 },
	};

	return call(SYS_setitimer, any(t, which), &timer, NULL);
}

/* Leaves an experiment, maybe as its last one, in which it has armed timers. */
static long task_leave(struct task *t)
{
	struct itimerspec later = { .it_value.tv_sec = 1 + below(t, 1000) }, old;
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	long fd, result;
	int id = -1;

	if (t->own < 0)
		return -ENOENT;
	fd = call(SYS_timerfd_create, any(t, timer_clocks), TFD_CLOEXEC);
	if (fd < 0)
		return fd;
	call(SYS_timerfd_settime, fd, 0, &later, NULL);
	if (!call(SYS_timer_create, any(t, timer_clocks), &event, &id))
		call(SYS_timer_settime, id, 0, &later, NULL);
	result = close_own(t);
	call(SYS_timerfd_gettime, fd, &old);
	call(SYS_timer_gettime, id, &old);
	call(SYS_timerfd_settime, fd, 0, &later, &old);
	call(SYS_timer_delete, id);
	close_fd(t, fd);
	return result;
}

const struct operation task_operations[] = {
	{ "thread", task_thread, 8, 0 },
	{ "vfork", task_vfork, 3, 0 },
	{ "fork", task_fork, 6, 0 },
	{ "exec", task_exec, 1, MAY_END },
	{ "unshare", task_unshare, 3, 0 },
	{ "exit", task_exit, 3, MAY_END },
	{ "signal", task_signal, 10, 0 },
	{ "wait", task_wait, 8, 0 },
	{ "affinity", task_affinity, 12, 0 },
	{ "class", task_class, 8, 0 },
	{ "deadline class", task_deadline_class, 2, 0 },
	{ "nice", task_nice, 8, 0 },
	{ "burn", task_burn, 40, 0 },
	{ "yield", task_yield, 10, 0 },
	{ "nanosleep", task_nanosleep, 20, 0 },
	{ "futex", task_futex, 10, 0 },
	{ "lock", task_lock, 6, 0 },
	{ "poll", task_poll, 10, 0 },
	{ "time of day", task_clocks, 10, 0 },
	{ "set clock", task_set_clock, 1, 0 },
	{ "timerfd", task_timerfd, 8, 0 },
	{ "timerfd again", task_timerfd_again, 10, 0 },
	{ "timer", task_timer, 8, 0 },
	{ "timer again", task_timer_again, 8, 0 },
	{ "itimer", task_itimer, 5, 0 },
	{ "leave", task_leave, 12, 0 },
};
const size_t task_operations_length = ARRAY_LENGTH(task_operations);
