// SPDX-License-Identifier: GPL-2.0
/*
 * What a pair of tense_scale_percent() and tense_scale_pop() costs in real
 * time, beside two of the cheapest system calls, in turns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "../lib/real-clock.h"

#define PAIRS	500

static uint64_t time_getppid(void)
{
	uint64_t start = real_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < PAIRS; i++) {
		syscall(SYS_getppid);
		syscall(SYS_getppid);
	}
	return real_clock(CLOCK_MONOTONIC) - start;
}

static uint64_t time_scale(void)
{
	uint64_t start = real_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < PAIRS; i++) {
		int error = tense_scale_percent(125);

		if (!error)
			error = tense_scale_pop();
		if (error) {
			fprintf(stderr, "percent-pair: %s\n", strerror(-error));
			exit(1);
		}
	}
	return real_clock(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;

	if (rounds < 1) {
		fputs("Usage: percent-pair ROUNDS\n", stderr);
		return 2;
	}
	time_scale();
	time_getppid();
	for (int i = 0; i < rounds; i++) {
		uint64_t getppid_ns = time_getppid(), scale_ns = time_scale();

		printf("run pair %d\n", i);
		printf("getppid_ns %ju\n", (uintmax_t)(getppid_ns / PAIRS));
		printf("scale_ns %ju\n", (uintmax_t)(scale_ns / PAIRS));
	}
	return fflush(stdout) ? 1 : 0;
}
