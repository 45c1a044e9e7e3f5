// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the entry and exit of a redirected function beside two of the
 * cheapest system calls, in turns: medians, by the time-stamp counter. Run it
 * with TENSE_FUNCTIONS="1 100 :redirected".
 */
#include <stdio.h>
#include <stdlib.h>

#include "../lib/cycles.h"
#include "../lib/sort.h"

#define PAIRS	50000
#define CALLS	10	/* between two readings of the counter */
#define SYSTEM_CALLS 200

int redirected(int n);
int plain(int n);

/* Not equal, or they would be made one. */
__attribute__((noinline)) int redirected(int n)
{
	__asm__ volatile("nopl 0(%%rax)" : "+r"(n));
	return n;
}

__attribute__((noinline)) int plain(int n)
{
	__asm__ volatile("nopl 4(%%rax)" : "+r"(n));
	return n;
}

static uint64_t time_calls(int (*call)(int))
{
	uint64_t start = cycles();

	for (int i = 0; i < CALLS; i++)
		call(i);
	return cycles() - start;
}

static double time_pair(void)
{
	static double ticks[PAIRS / CALLS];

	for (int i = 0; i < PAIRS / CALLS; i++) {
		double with = time_calls(redirected);

		ticks[i] = (with - time_calls(plain)) / CALLS;
	}
	return median_of(ticks, PAIRS / CALLS);
}

static double time_getppid(void)
{
	double ticks[SYSTEM_CALLS];

	for (int i = 0; i < SYSTEM_CALLS; i++) {
		uint64_t start = cycles();

		syscall(SYS_getppid);
		syscall(SYS_getppid);
		ticks[i] = cycles() - start;
	}
	return median_of(ticks, SYSTEM_CALLS);
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;
	double per_ns = cycles_per_ns();

	if (rounds < 1) {
		fputs("Usage: stub-pair ROUNDS\n", stderr);
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		printf("run pair %d\n", i);
		printf("getppid_ps %.0f\n", 1000 * time_getppid() / per_ns);
		printf("stub_ps %.0f\n", 1000 * time_pair() / per_ns);
		printf("ns 1000\n");
	}
	return fflush(stdout) ? 1 : 0;
}
