// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the entry and exit of a redirected function beside two of the
 * cheapest system calls, in turns: medians, by the time-stamp counter. The same for
 * a call that the function makes to itself. Run it with
 * TENSE_FUNCTIONS="1 100 :redirected".
 */
#include <stdio.h>
#include <stdlib.h>

#include "../lib/cycles.h"
#include "../lib/sort.h"

#define PAIRS	50000
#define CALLS	10	/* between two readings of the counter */
#define SYSTEM_CALLS 200

int redirected(int deeper);
int plain(int deeper);

/* Not equal, or they would be made one. The last statement is no tail call. */
__attribute__((noinline)) int redirected(int deeper)
{
	__asm__ volatile("nopl 0(%%rax)" : "+r"(deeper));
	if (deeper)
		deeper = redirected(deeper - 1);
	__asm__ volatile("nopl 8(%%rax)" : "+r"(deeper));
	return deeper;
}

__attribute__((noinline)) int plain(int deeper)
{
	__asm__ volatile("nopl 4(%%rax)" : "+r"(deeper));
	if (deeper)
		deeper = plain(deeper - 1);
	__asm__ volatile("nopl 12(%%rax)" : "+r"(deeper));
	return deeper;
}

static uint64_t time_calls(int (*call)(int), int deeper)
{
	uint64_t start = cycles();

	for (int i = 0; i < CALLS; i++)
		call(deeper);
	return cycles() - start;
}

/* The ticks that redirection adds to a call. */
static double time_call(int deeper)
{
	static double ticks[PAIRS / CALLS];

	for (int i = 0; i < PAIRS / CALLS; i++) {
		double with = time_calls(redirected, deeper);

		ticks[i] = (with - time_calls(plain, deeper)) / CALLS;
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
	double per_ns = cycles_per_ns(), pair;

	if (rounds < 1) {
		fputs("Usage: stub-pair ROUNDS\n", stderr);
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		printf("run pair %d\n", i);
		printf("getppid_ps %.0f\n", 1000 * time_getppid() / per_ns);
		pair = time_call(0);
		printf("stub_ps %.0f\n", 1000 * pair / per_ns);
		printf("again_ps %.0f\n", 1000 * (time_call(1) - pair) / per_ns);
		printf("ns 1000\n");
	}
	return fflush(stdout) ? 1 : 0;
}
