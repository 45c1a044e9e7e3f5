// SPDX-License-Identifier: GPL-2.0
/* Every call that reads a clock. */
#include "timed.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>

static const clockid_t ids[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
	CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
	CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_TAI,
};

static bool is_coarse(clockid_t id)
{
	return id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE;
}

/* System calls and libc's functions tell one time. */
static void one_time(clockid_t id)
{
	int64_t last = raw_clock(id);
	bool good = true;

	for (int i = 0; i < 2000; i++) {
		int64_t now = i % 2 ? raw_clock(id) : libc_clock(id);

		if (now < last)
			note("%s: %lld ns back after %d readings",
			     clock_name(id), (long long)(last - now), i);
		good &= now >= last;
		last = now;
	}
	check(good, "%s: one time, which never runs backwards", clock_name(id));
}

/* A coarse clock is behind the fine one, but by no more than a tick. */
static void coarse(clockid_t id, clockid_t fine)
{
	struct timespec resolution;
	int64_t before, now, after;
	bool good = true;

	clock_getres(id, &resolution);
	for (int i = 0; i < 100; i++) {
		before = raw_clock(fine);
		now = i % 2 ? raw_clock(id) : libc_clock(id);
		after = raw_clock(fine);
		good &= now <= after;
		burn(100 * US);
	}
	check(good, "%s: never ahead of %s", clock_name(id), clock_name(fine));
	note("%s: %lld ns behind, as fine as %lld", clock_name(id),
	     (long long)(before - now), (long long)timespec_to_ns(resolution));
}

/* Between two readings of the one, the other moves by as much. */
static void same_pace(clockid_t id)
{
	int64_t outer[2], inner[2], least, most, slack;

	outer[0] = raw_clock(CLOCK_MONOTONIC);
	inner[0] = raw_clock(id);
	least = raw_clock(CLOCK_MONOTONIC);
	nap(10 * MS);
	burn(5 * MS);
	most = raw_clock(CLOCK_MONOTONIC);
	inner[1] = raw_clock(id);
	outer[1] = raw_clock(CLOCK_MONOTONIC);
	least = most - least;
	most = outer[1] - outer[0];
	/* Corrections slow CLOCK_MONOTONIC down, or hurry it, by 500 ppm. */
	slack = id == CLOCK_MONOTONIC_RAW ? most / 1000 : 2;
	if (!check(inner[1] - inner[0] >= least - slack &&
		   inner[1] - inner[0] <= most + slack,
		   "%s: as fast as MONOTONIC", clock_name(id)))
		note("%lld ns, MONOTONIC %lld to %lld",
		     (long long)(inner[1] - inner[0]), (long long)least,
		     (long long)most);
}

static int64_t gettimeofday_raw(void)
{
	struct timeval now;

	syscall(SYS_gettimeofday, &now, NULL);
	return now.tv_sec * S + now.tv_usec * US;
}

static int64_t gettimeofday_libc(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return now.tv_sec * S + now.tv_usec * US;
}

static int64_t time_raw(void)
{
	return syscall(SYS_time, NULL) * S;
}

static int64_t time_libc(void)
{
	return time(NULL) * S;
}

static int64_t timespec_get_libc(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return timespec_to_ns(now);
}

static int64_t process_time(void)
{
	return clock() * (S / CLOCKS_PER_SEC);
}

static int64_t usage(int who, bool raw)
{
	struct rusage u;

	if (raw)
		syscall(SYS_getrusage, who, &u);
	else
		getrusage(who, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * S +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * US;
}

static int64_t usage_of_process(void)
{
	return usage(RUSAGE_SELF, false);
}

static int64_t usage_of_process_raw(void)
{
	return usage(RUSAGE_SELF, true);
}

static int64_t usage_of_thread(void)
{
	return usage(RUSAGE_THREAD, false);
}

static int64_t usage_of_thread_raw(void)
{
	return usage(RUSAGE_THREAD, true);
}

static int64_t times_libc(void)
{
	struct tms t;

	times(&t);
	return (t.tms_utime + t.tms_stime) * (S / sysconf(_SC_CLK_TCK));
}

static int64_t times_raw(void)
{
	struct tms t;

	syscall(SYS_times, &t);
	return (t.tms_utime + t.tms_stime) * (S / sysconf(_SC_CLK_TCK));
}

static int64_t getcpuclockid(void)
{
	clockid_t id;

	pthread_getcpuclockid(pthread_self(), &id);
	return libc_clock(id);
}

static int64_t process_getcpuclockid(void)
{
	clockid_t id;

	clock_getcpuclockid(getpid(), &id);
	return raw_clock(id);
}

static const struct reading {
	const char *name;
	int64_t (*read)(void);
	clockid_t clock;
	/* The reading rounds down to this, and may be behind by as much. */
	int64_t unit;
} readings[] = {
	{ "gettimeofday", gettimeofday_libc, CLOCK_REALTIME, US },
	{ "gettimeofday (system call)", gettimeofday_raw, CLOCK_REALTIME, US },
	/* By the coarse clock. */
	{ "time", time_libc, CLOCK_REALTIME_COARSE, S },
	{ "time (system call)", time_raw, CLOCK_REALTIME_COARSE, S },
	{ "timespec_get", timespec_get_libc, CLOCK_REALTIME, 1 },
	{ "clock", process_time, CLOCK_PROCESS_CPUTIME_ID, US },
	/* User and system time are rounded each. */
	{ "getrusage", usage_of_process, CLOCK_PROCESS_CPUTIME_ID, 2 * US },
	{ "getrusage (system call)", usage_of_process_raw,
	  CLOCK_PROCESS_CPUTIME_ID, 2 * US },
	{ "getrusage of a thread", usage_of_thread, CLOCK_THREAD_CPUTIME_ID,
	  2 * US },
	{ "getrusage of a thread (system call)", usage_of_thread_raw,
	  CLOCK_THREAD_CPUTIME_ID, 2 * US },
	{ "times", times_libc, CLOCK_PROCESS_CPUTIME_ID, 20 * MS },
	{ "times (system call)", times_raw, CLOCK_PROCESS_CPUTIME_ID, 20 * MS },
	{ "pthread_getcpuclockid", getcpuclockid, CLOCK_THREAD_CPUTIME_ID, 1 },
	{ "clock_getcpuclockid", process_getcpuclockid,
	  CLOCK_PROCESS_CPUTIME_ID, 1 },
};

/* With libtense, elapsed time is read without a system call. */
static void list_reading(const char *name, clockid_t clock)
{
	bool cpu = clock == CLOCK_PROCESS_CPUTIME_ID ||
		   clock == CLOCK_THREAD_CPUTIME_ID;

	printf("%s\t%s\treads\t%s\n", name, clock_name(clock),
	       cpu ? "kernel" : "libtense");
}

void list_readings(void)
{
	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
		list_reading("clock_gettime", ids[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(readings); i++)
		if (!strchr(readings[i].name, '('))
			list_reading(readings[i].name, readings[i].clock);
}

/* It tells what the clock does, between two readings of the clock. */
static void tells(const struct reading *r)
{
	bool good = true;

	for (int i = 0; i < 20; i++) {
		int64_t before = raw_clock(r->clock), told = r->read();
		int64_t after = raw_clock(r->clock);

		if (told < before - r->unit + 1 || told > after) {
			note("%s: %lld, the clock %lld to %lld", r->name,
			     (long long)told, (long long)before,
			     (long long)after);
			good = false;
		}
		burn(MS);
	}
	check(good, "%s: tells %s", r->name, clock_name(r->clock));
}

/* times() returns the ticks since some time in the past. */
static void times_elapsed(void)
{
	struct tms t;
	int64_t tick = S / sysconf(_SC_CLK_TCK), told[2], least, most;

	most = raw_clock(CLOCK_MONOTONIC);
	told[0] = times(&t);
	least = raw_clock(CLOCK_MONOTONIC);
	nap(35 * MS);
	least = raw_clock(CLOCK_MONOTONIC) - least;
	told[1] = syscall(SYS_times, &t);
	most = raw_clock(CLOCK_MONOTONIC) - most;
	/* By the clock of ticks, which is coarse. */
	if (!check((told[1] - told[0] + 2) * tick > least &&
		   (told[1] - told[0] - 2) * tick < most,
		   "times: what it returns is as fast as MONOTONIC"))
		note("%lld ticks, MONOTONIC %lld to %lld",
		     (long long)(told[1] - told[0]), (long long)least,
		     (long long)most);
}

static void *burns(void *arg)
{
	burn(*(int64_t *)arg);
	return NULL;
}

static void cpu_time(void)
{
	int64_t thread = raw_clock(CLOCK_THREAD_CPUTIME_ID);
	int64_t process = raw_clock(CLOCK_PROCESS_CPUTIME_ID), slept;
	int64_t length = 20 * MS;
	pthread_t other;

	pthread_create(&other, NULL, burns, &length);
	pthread_join(other, NULL);
	process = raw_clock(CLOCK_PROCESS_CPUTIME_ID) - process;
	thread = raw_clock(CLOCK_THREAD_CPUTIME_ID) - thread;
	check(process >= length, "CPU time of the process is that of all threads");
	check(thread <= process - length, "and that of a thread is its own");
	slept = raw_clock(CLOCK_THREAD_CPUTIME_ID);
	nap(20 * MS);
	slept = raw_clock(CLOCK_THREAD_CPUTIME_ID) - slept;
	/* It takes a few system calls to sleep. */
	check(slept < 20 * MS, "sleep is not CPU time");
}

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

/* This process does not exist, nor does this kind of clock. */
#define NO_PROCESS ((clockid_t)(~0U << 3 | 2) & ~(1 << 30))
#define NO_KIND ((clockid_t)(~(unsigned int)getpid() << 3 | 3))

static void no_such_clocks(void)
{
	static const struct timespec past = { .tv_nsec = 1 };
	static const clockid_t unknown[] = { 10, 12, 15, 99, 9999, INT_MAX };
	static const clockid_t no_sleep[] = {
		CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
		CLOCK_MONOTONIC_COARSE,
	};
	struct timespec now;
	bool good = true;

	for (size_t i = 0; i < ARRAY_LENGTH(unknown); i++) {
		clockid_t id = unknown[i];
		int number;

		good &= error_of(clock_gettime(id, &now)) == EINVAL;
		good &= error_of(syscall(SYS_clock_gettime, id, &now)) == EINVAL;
		good &= error_of(clock_getres(id, &now)) == EINVAL;
		good &= error_of(clock_settime(id, &now)) == EINVAL;
		good &= clock_nanosleep(id, TIMER_ABSTIME, &past, NULL) == EINVAL;
		good &= error_of(syscall(SYS_clock_nanosleep, id, TIMER_ABSTIME,
					 &past, NULL)) == EINVAL;
		good &= error_of(timerfd_create(id, 0)) == EINVAL;
		good &= error_of(syscall(SYS_timer_create, id, NULL, &number)) ==
			EINVAL;
	}
	check(good, "clocks that do not exist");
	good = true;
	for (size_t i = 0; i < ARRAY_LENGTH(no_sleep); i++) {
		int number;

		good &= clock_nanosleep(no_sleep[i], TIMER_ABSTIME, &past,
					NULL) == EOPNOTSUPP;
		good &= error_of(timerfd_create(no_sleep[i], 0)) == EINVAL;
		good &= error_of(syscall(SYS_timer_create, no_sleep[i], NULL,
					 &number)) == EOPNOTSUPP;
		good &= error_of(clock_settime(no_sleep[i], &past)) == EINVAL;
	}
	check(good, "clocks that nobody can wait for");
	check(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &past, NULL) ==
		      EINVAL &&
	      error_of(syscall(SYS_clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0,
			       &past, NULL)) == EOPNOTSUPP,
	      "nobody can wait for its own CPU time");
	check(error_of(timerfd_create(CLOCK_TAI, 0)) == EINVAL &&
	      error_of(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0)) == EINVAL,
	      "clocks that timerfd does not know");
	check(error_of(clock_gettime(NO_PROCESS, &now)) == EINVAL &&
	      error_of(clock_gettime(NO_KIND, &now)) == EINVAL,
	      "clocks of no process, or of no kind");
	check(error_of(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (void *)16)) ==
		      EFAULT &&
	      error_of(syscall(SYS_nanosleep, (void *)16, NULL)) == EFAULT,
	      "bad addresses");
}

void test_clocks(void)
{
	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
		one_time(ids[i]);
	for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
		if (ids[i] != CLOCK_PROCESS_CPUTIME_ID &&
		    ids[i] != CLOCK_THREAD_CPUTIME_ID && !is_coarse(ids[i]))
			same_pace(ids[i]);
	coarse(CLOCK_REALTIME_COARSE, CLOCK_REALTIME);
	coarse(CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC);
	for (size_t i = 0; i < ARRAY_LENGTH(readings); i++)
		tells(&readings[i]);
	times_elapsed();
	cpu_time();
	no_such_clocks();
}
