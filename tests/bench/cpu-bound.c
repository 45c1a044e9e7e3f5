// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual elapsed time over CPU time, of a stretch that does nothing but
 * compute, some times. At percent 100 in an experiment they are the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../lib/cycles.h"

/* About a second, beside which reading the clocks is nothing. */
#define LOOPS	1000000000

static uint64_t compute(uint64_t value)
{
	for (long i = 0; i < LOOPS; i++)
		value = value * 6364136223846793005 + 1;
	return value;
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;
	uint64_t value = 1;

	if (rounds < 1) {
		fputs("Usage: cpu-bound ROUNDS\n", stderr);
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		uint64_t virtual = libc_clock(CLOCK_MONOTONIC);
		uint64_t cpu = real_clock(CLOCK_THREAD_CPUTIME_ID);

		value = compute(value);
		cpu = real_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
		virtual = libc_clock(CLOCK_MONOTONIC) - virtual;
		printf("run cpu-bound %d\n", i);
		printf("elapsed_ns %ju\n", (uintmax_t)virtual);
		printf("cpu_ns %ju\n", (uintmax_t)cpu);
	}
	/* Used, or the loops could be left out. */
	return value == 0;
}
