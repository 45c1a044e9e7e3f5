// SPDX-License-Identifier: GPL-2.0
/*
 * lateness ROUNDS: how late virtual sleeps end beside a neighbour on the same CPU.
 * In turns, the neighbour changes its percent every microsecond or so by the ring,
 * and does the same work without. Prints the 99th percentile of each.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "../lib/real-clock.h"
#include "../lib/sort.h"

#define SLEEPS		500
#define CALIBRATE	20000000

static atomic_bool stop, by_ring;
static int loops;	/* loops per microsecond */

static void work(void)
{
	for (volatile int i = 0; i < loops; i++)
		;
}

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "lateness: %s: %s\n", what, strerror(-error));
	exit(1);
}

static void calibrate(void)
{
	uint64_t start = real_clock(CLOCK_MONOTONIC), ns;

	loops = CALIBRATE;
	work();
	ns = real_clock(CLOCK_MONOTONIC) - start;
	loops = CALIBRATE * 1000ULL / ns + 1;
}

static void *neighbour(void *unused)
{
	(void)unused;
	while (!stop) {
		bool change = by_ring;

		if (change)
			must(tense_scale_percent(125), "tense_scale_percent");
		work();
		if (change)
			must(tense_scale_pop(), "tense_scale_pop");
		work();
	}
	return NULL;
}

static int64_t late_p99(void)
{
	static int64_t late[SLEEPS];

	for (int i = 0; i < SLEEPS; i++) {
		int64_t ns = 200000 + i % 97 * 10000;
		uint64_t from = 0, to = 0;

		must(tense_time_ns(&from), "tense_time");
		must(tense_sleep_ns(ns), "tense_sleep");
		must(tense_time_ns(&to), "tense_time");
		late[i] = (int64_t)(to - from) - ns;
	}
	sort_i64(late, SLEEPS);
	return late[SLEEPS * 99 / 100];
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;
	pthread_t thread;

	if (rounds < 1) {
		fputs("Usage: lateness ROUNDS\n", stderr);
		return 2;
	}
	calibrate();
	must(-pthread_create(&thread, NULL, neighbour, NULL), "pthread_create");
	late_p99();
	for (int i = 0; i < 2 * rounds; i++) {
		/* Which is first changes from round to round. */
		by_ring = (i + i / 2) % 2;
		printf("run %s %d\n", by_ring ? "ring" : "plain", i / 2);
		printf("late_p99_ns %jd\n", (intmax_t)late_p99());
	}
	stop = true;
	pthread_join(thread, NULL);
	return fflush(stdout) ? 1 : 0;
}
