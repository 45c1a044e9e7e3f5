/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Real time in an experiment and out of it. The kernel's clocks are virtual in
 * one: there, the module's counters tell.
 */
#ifndef REAL_CLOCK_H
#define REAL_CLOCK_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/tense.h>

/* Threads whose own time can be told. */
#define REAL_CLOCK_THREADS	128

static inline uint64_t timespec_ns(struct timespec time)
{
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/*
 * A handle of the device in a program that `tense run` started, else -1: to
 * open it would make the program join.
 */
static inline int real_clock_device(void)
{
	static _Atomic int device = -2;
	const char *preload = getenv("LD_PRELOAD");

	if (device == -2)
		device = preload && strstr(preload, "libtense.so") ?
			 open(TENSE_DEVICE, O_RDWR | O_CLOEXEC) : -1;
	return device;
}

/* By the counters of the module; false if the thread is in no experiment. */
static inline bool real_clock_counters(clockid_t clock, uint64_t *ns)
{
	struct {
		struct tense_stats stats;
		struct tense_thread thread[REAL_CLOCK_THREADS];
	} now;
	int device = real_clock_device();
	bool thread = clock == CLOCK_THREAD_CPUTIME_ID;
	pid_t self = syscall(SYS_gettid);

	if (device < 0 ||
	    read(device, &now, thread ? sizeof(now) : sizeof(now.stats)) <
		    (ssize_t)sizeof(now.stats))
		return false;
	*ns = clock == CLOCK_PROCESS_CPUTIME_ID ? now.stats.ran :
						  now.stats.elapsed;
	for (unsigned int i = 0; thread && i < now.stats.threads &&
				 i < REAL_CLOCK_THREADS; i++)
		if (now.thread[i].pid == self)
			*ns = now.thread[i].ran;
	return true;
}

/*
 * Since when it counts is not said. The CPU time of a process in an experiment
 * is that of all of the experiment.
 */
static inline uint64_t real_clock(clockid_t clock)
{
	struct timespec now = { 0 };
	uint64_t ns;

	if (real_clock_counters(clock, &ns))
		return ns;
	syscall(SYS_clock_gettime, clock, &now);
	return timespec_ns(now);
}

/* Virtual in an experiment, real elsewhere. */
static inline uint64_t libc_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return timespec_ns(now);
}

#endif
