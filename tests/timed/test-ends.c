// SPDX-License-Identifier: GPL-2.0
/*
 * However a program ends that waits or has timers, nothing of it stays behind:
 * the module can be removed. Run from outside of an experiment.
 */
#include "timed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

static void __attribute__((noreturn)) wait_for_ever(const struct timed_call *call)
{
	struct thing thing;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!join_experiment())
		_exit(2);
	open_thing(call, &thing);
	for (;;)
		wait_for(call, &thing, HOUR);
}

/* Kills the process as soon as it waits. Returns its status. */
static int kill_in_wait(pid_t pid, int signal)
{
	int status;

	while (!thread_of_waits(pid, pid)) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		nap(200 * US);
	}
	kill(pid, signal);
	waitpid(pid, &status, 0);
	return status;
}

static void killed_in_wait(const struct timed_call **calls, size_t n, int signal,
			   const char *what)
{
	bool killed = true;
	pid_t child;

	for (size_t i = 0; i < n; i++) {
		int status;

		if (!call_exists(calls[i]) || calls[i]->flags & NEVER_BLOCKS)
			continue;
		child = fork();
		if (!child)
			wait_for_ever(calls[i]);
		status = kill_in_wait(child, signal);
		killed = killed && WIFSIGNALED(status) && WTERMSIG(status) == signal;
	}
	check(killed, "%s: each waited until then", what);
	unload_experiments(what);
	load_experiments();
}

/*
 * Arms three timers of each kind: one expires soon, one repeats, one is far
 * off.
 */
static void arm_all(int *fd)
{
	static const int64_t times[] = { 20 * MS, MS, HOUR };
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME,
	};
	struct sigevent silent = { .sigev_notify = SIGEV_NONE };
	struct itimerval real = { .it_value.tv_usec = 20000 };
	struct itimerval cpu = { .it_value.tv_sec = 1000 };

	for (size_t i = 0; i < 9; i++) {
		struct itimerspec arm = {
			.it_value = ns_to_timespec(times[i % 3]),
			.it_interval.tv_nsec = i % 3 == 1 ? MS : 0,
		};
		timer_t timer;
		int new = timerfd_create(clocks[i / 3], 0);

		timerfd_settime(new, 0, &arm, NULL);
		if (i == 0)
			*fd = new;
		timer_create(clocks[i / 3], &silent, &timer);
		timer_settime(timer, 0, &arm, NULL);
	}
	setitimer(ITIMER_REAL, &real, NULL);
	setitimer(ITIMER_VIRTUAL, &cpu, NULL);
	setitimer(ITIMER_PROF, &cpu, NULL);
}

/* Armed timers expire, though nobody is in the experiment any more. */
static int timers_come(int fd)
{
	uint64_t count = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (sigwaitinfo(&set, NULL) != SIGALRM)
		return 3;
	return read(fd, &count, sizeof(count)) == sizeof(count) && count == 1 ?
		       0 : 4;
}

enum left { BY_EXIT, BY_CLOSE, BY_KILL, BY_EXEC };

static void leave_timers(enum left how)
{
	char text[16];
	sigset_t set;
	int fd = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!join_experiment())
		_exit(2);
	arm_all(&fd);
	switch (how) {
	case BY_EXIT:
		_exit(0);
	case BY_CLOSE:
		leave_experiment();
		_exit(timers_come(fd));
	case BY_KILL:
		raise(SIGKILL);
		_exit(2);
	case BY_EXEC:
		close_experiment_on_exec();
		snprintf(text, sizeof(text), "%d", fd);
		execl("/proc/self/exe", "timed", "--after-leaving", text, NULL);
		_exit(2);
	}
}

static void timers_left(enum left how, const char *what)
{
	int status;
	pid_t child = fork();

	if (!child)
		leave_timers(how);
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0,
	      "timers armed, then %s", what);
	if (status)
		note("status 0x%x", status);
	unload_experiments(what);
	load_experiments();
}

/* A timerfd outlives the experiment in which it was armed. */
static void timerfd_left(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), status;
	struct itimerspec arm = { .it_value.tv_nsec = 30 * MS };
	int64_t begin = raw_clock(CLOCK_MONOTONIC);
	uint64_t count = 0;
	pid_t child = fork();

	if (!child) {
		if (!join_experiment())
			_exit(2);
		_exit(timerfd_settime(fd, 0, &arm, NULL) != 0);
	}
	waitpid(child, &status, 0);
	check(status == 0, "a timerfd armed in an experiment");
	check(read(fd, &count, sizeof(count)) == sizeof(count) && count == 1 &&
	      raw_clock(CLOCK_MONOTONIC) >= begin + 30 * MS,
	      "expires when all who were in it have ended");
	close(fd);
	unload_experiments("a timerfd from an experiment");
	load_experiments();
}

int after_leaving(char **argv)
{
	return argv[0] ? timers_come((int)strtol(argv[0], NULL, 10)) : 2;
}

void test_ends(const struct timed_call **calls, size_t n)
{
	killed_in_wait(calls, n, SIGKILL, "kill -9 in every call");
	killed_in_wait(calls, n, SIGTERM, "kill in every call");
	timers_left(BY_EXIT, "exit");
	timers_left(BY_KILL, "kill -9");
	timers_left(BY_CLOSE, "close of the device");
	timers_left(BY_EXEC, "exec that closes the device");
	timerfd_left();
}
