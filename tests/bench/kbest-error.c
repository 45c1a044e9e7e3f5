// SPDX-License-Identifier: GPL-2.0
/*
 * kbest-error LOAD...: how exact the K-best protocol is. It measures routines of 0.05
 * to 50 ms beside LOAD - 1 processes that use what CPU they get. A routine makes m
 * steps, so it costs m times a step. The program measures a step's cost just before
 * and just after the routine, each time as the shortest of many short runs, and takes
 * the mean of the two. If they differ by more than DRIFT_PERCENT, the
 * speed of the CPU has changed, and the cost is not known. Prints a table of
 * comma-separated values.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tense-measure.h>

#include "../lib/spinner.h"

#define LENGTHS	16
#define FROM_NS	5e4
#define TO_NS	5e7
/* Short runs take much less time than a tick, so most contain no timer interrupt. */
#define SHORT_STEPS	50000
#define SHORT_RUNS	200
/* Half of the error that K-best may have. */
#define DRIFT_PERCENT	0.05

/*
 * Each step needs the result of the last one, so it takes as many cycles each time. All
 * callers use one copy, which makes as many instructions for each step.
 */
__attribute__((noinline))
static void work(void *arg)
{
	const double *m = arg;
	uint64_t value = 1;

	for (uint64_t i = 0; i < (uint64_t)*m; i++) {
		value = value * 3 + 1;
		__asm__ volatile("" : "+r"(value));
	}
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Returns the cost of a step in ns, at the present speed of the CPU. */
static double step_cost(void)
{
	double m = SHORT_STEPS, least = INFINITY;

	for (int i = 0; i < SHORT_RUNS; i++) {
		double began = now_ns();

		work(&m);
		least = fmin(least, now_ns() - began);
	}
	return least / m;
}

static int measure(const char *load, double m)
{
	struct tense_kbest_result r;
	double before = step_cost(), after, step, drift;

	if (tense_kbest(work, &m, NULL, &r))
		return -1;
	after = step_cost();
	step = (before + after) / 2;
	drift = (after / before - 1) * 100;
	printf("%s,%.4f,%.4f,%.4f,%d,%u,%u,%d\n", load, step * m / 1e6,
	       r.ns / 1e6, (r.ns / (step * m) - 1) * 100, r.converged, r.samples,
	       r.ticks, fabs(drift) <= DRIFT_PERCENT);
	return fflush(stdout);
}

static int measure_beside(const char *load, double step)
{
	pid_t others[64];
	int count = 0, error = 0;

	while (count < atoi(load) - 1 && count < 64)
		others[count++] = spinner_start();
	for (int i = 0; i < LENGTHS && !error; i++) {
		double ns = FROM_NS * pow(TO_NS / FROM_NS,
					  (double)i / (LENGTHS - 1));

		error = measure(load, floor(ns / step));
	}
	while (count-- > 0)
		spinner_end(others[count]);
	return error;
}

int main(int argc, char **argv)
{
	double step = step_cost();

	puts("load,expected_ms,measured_ms,error_percent,converged,samples,ticks,known");
	for (int i = 1; i < argc; i++)
		if (measure_beside(argv[i], step))
			return 1;
	return 0;
}
