// SPDX-License-Identifier: GPL-2.0
/*
 * wake-late VARIANT ROUND [PERCENT]: how late a thread wakes from sleeps to absolute
 * times, by the clock that it sleeps by. A neighbour on the same CPU computes, at a
 * percent in virtual time. Prints median and 99th percentile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "../lib/real-clock.h"
#include "../lib/sort.h"

#define SLEEPS	300

static atomic_bool begun, stop;

static __attribute__((noreturn)) void fail(const char *what, int error)
{
	fprintf(stderr, "wake-late: %s: %s\n", what, strerror(error));
	exit(1);
}

static void *neighbour(void *percent)
{
	int error = percent ? tense_scale_percent(atoi(percent)) : 0;

	if (error)
		fail("tense_scale_percent", -error);
	begun = true;
	while (!stop)
		;
	return NULL;
}

/* About 1 ms, never twice the same in step with the tick. */
static int64_t sleep_late(int i)
{
	int64_t end = libc_clock(CLOCK_MONOTONIC) + 700000 + i % 97 * 7919;
	struct timespec time = {
		.tv_sec = end / 1000000000,
		.tv_nsec = end % 1000000000,
	};
	int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);

	if (error)
		fail("clock_nanosleep", error);
	return (int64_t)libc_clock(CLOCK_MONOTONIC) - end;
}

int main(int argc, char **argv)
{
	int64_t late[SLEEPS];
	pthread_t thread;
	int error;

	if (argc < 3 || argc > 4) {
		fputs("Usage: wake-late VARIANT ROUND [PERCENT]\n", stderr);
		return 2;
	}
	error = pthread_create(&thread, NULL, neighbour, argv[3]);
	if (error)
		fail("pthread_create", error);
	while (!begun)
		sleep_late(0);
	for (int i = 0; i < SLEEPS; i++)
		late[i] = sleep_late(i);
	stop = true;
	pthread_join(thread, NULL);
	sort_i64(late, SLEEPS);
	if (late[0] < 0)
		fail("a sleep ended early", EINVAL);
	printf("run %s %s\n", argv[1], argv[2]);
	printf("late_median_ns %jd\n", (intmax_t)late[SLEEPS / 2]);
	printf("late_p99_ns %jd\n", (intmax_t)late[SLEEPS * 99 / 100]);
	return fflush(stdout) ? 1 : 0;
}
