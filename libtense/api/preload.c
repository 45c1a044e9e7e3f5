// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes an unmodified program run in virtual time. The kernel keeps its waits,
 * and its clocks as system calls tell them, in virtual time. This file joins an
 * experiment before main(). It also replaces the libc functions that read clocks
 * without a system call, and those that start threads, which may have to report.
 *
 * All of that is inactive unless LD_PRELOAD names libtense.so. A program that
 * only links with libtense.so decides itself when to join, and keeps libc's
 * clocks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "clocks.h"
#include "config.h"
#include "device.h"
#include "report.h"

/* The tests need libc's own functions, and rename these. */
#ifndef INTERPOSE
#define INTERPOSE(name) name
#endif
#define EXPORT __attribute__((visibility("default")))

EXPORT int INTERPOSE(clock_gettime)(clockid_t clock, struct timespec *ts)
{
	return tense_clocks_get(clock, ts);
}

EXPORT int INTERPOSE(gettimeofday)(struct timeval *restrict tv,
				   void *restrict tz)
{
	/* libc declares it as never NULL, so that compilers drop a test. The system call takes NULL. */
	struct timeval *given = tv;
	struct timespec ts;

	__asm__("" : "+r"(given));
	if (tz && syscall(SYS_gettimeofday, NULL, tz))
		return -1;
	if (!given)
		return 0;
	if (tense_clocks_get(CLOCK_REALTIME, &ts))
		return -1;
	given->tv_sec = ts.tv_sec;
	given->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

EXPORT time_t INTERPOSE(time)(time_t *seconds)
{
	struct timespec ts;

	/* time(2) shows the clock that also stamps files. */
	if (tense_clocks_get(CLOCK_REALTIME_COARSE, &ts))
		return -1;
	if (seconds)
		*seconds = ts.tv_sec;
	return ts.tv_sec;
}

EXPORT int INTERPOSE(timespec_get)(struct timespec *ts, int base)
{
	if (base != TIME_UTC || tense_clocks_get(CLOCK_REALTIME, ts))
		return 0;
	return base;
}

static __typeof__(&pthread_create) real_pthread_create;
static __typeof__(&thrd_create) real_thrd_create;

static void find_libc(void)
{
	__typeof__(&clock_gettime) gettime;

	/* This is how POSIX converts a void pointer to a function. */
	*(void **)&gettime = dlsym(RTLD_NEXT, "clock_gettime");
	if (gettime)
		tense_real_gettime = gettime;
	*(void **)&real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	*(void **)&real_thrd_create = dlsym(RTLD_NEXT, "thrd_create");
}

/* A thread that is to report its time. */
struct start {
	void *(*function)(void *arg);	/* one of the two */
	int (*c11_function)(void *arg);
	void *arg;
};

static struct start take_start(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	tense_report_watch();
	return start;
}

static void *run_thread(void *arg)
{
	struct start start = take_start(arg);

	return start.function(start.arg);
}

static int run_c11_thread(void *arg)
{
	struct start start = take_start(arg);

	return start.c11_function(start.arg);
}

static struct start *make_start(struct start start)
{
	struct start *made = malloc(sizeof(*made));

	if (made)
		*made = start;
	return made;
}

EXPORT int INTERPOSE(pthread_create)(pthread_t *restrict thread,
				     const pthread_attr_t *restrict attr,
				     void *(*function)(void *arg),
				     void *restrict arg)
{
	struct start *start;
	int err;

	/* A constructor of another library may come first. */
	if (!real_pthread_create)
		find_libc();
	if (!tense_report_is_wanted())
		return real_pthread_create(thread, attr, function, arg);
	start = make_start((struct start){ .function = function, .arg = arg });
	if (!start)
		return EAGAIN;
	err = real_pthread_create(thread, attr, run_thread, start);
	if (err)
		free(start);
	return err;
}

EXPORT int INTERPOSE(thrd_create)(thrd_t *thread, int (*function)(void *arg),
				  void *arg)
{
	struct start *start;
	int result;

	if (!real_thrd_create)
		find_libc();
	if (!tense_report_is_wanted())
		return real_thrd_create(thread, function, arg);
	start = make_start((struct start){ .c11_function = function,
					   .arg = arg });
	if (!start)
		return thrd_nomem;
	result = real_thrd_create(thread, run_c11_thread, start);
	if (result != thrd_success)
		free(start);
	return result;
}

static int start(void)
{
	int err = tense_device_join(true);

	if (err)
		return err;
	tense_clocks_start();
	tense_report_start();
	return 0;
}

__attribute__((constructor)) static void preload_init(void)
{
	int err = 0;

	find_libc();
	if (tense_config.off)
		return;
	if (tense_config.preloaded) {
		err = start();
		/* One warning is enough for all programs that a script runs. */
		if (err)
			setenv("TENSE_WARNED", "1", 1);
	} else if (tense_config.strict) {
		/* The program joins by itself, if it can. */
		err = tense_device_probe();
		if (err)
			tense_device_complain(err);
	}
	if (err && tense_config.strict)
		_exit(1);
}
