// SPDX-License-Identifier: GPL-2.0
/*
 * kbest-ticks OTHERS: prints the cost of a timer interrupt that the K-best protocol
 * subtracts, in nanoseconds; 0: K-best found none. Meanwhile OTHERS processes keep the
 * CPU busy. Run it on one CPU, as with taskset.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tense-measure.h>

#include "../lib/spinner.h"

#define OTHERS_MAX	64
/* Some 20 ms, which ticks interrupt. */
#define STEPS		10000000

static void work(void *arg)
{
	(void)arg;
	for (volatile uint64_t i = 0; i < STEPS; i++)
		;
}

int main(int argc, char **argv)
{
	int others = argc == 2 ? atoi(argv[1]) : -1, error;
	struct tense_kbest_result result;
	pid_t pid[OTHERS_MAX];

	if (others < 0 || others > OTHERS_MAX) {
		fputs("Usage: kbest-ticks OTHERS\n", stderr);
		return 2;
	}
	for (int i = 0; i < others; i++)
		pid[i] = spinner_start();
	error = tense_kbest(work, NULL, NULL, &result);
	for (int i = 0; i < others; i++)
		spinner_end(pid[i]);
	if (error)
		return 1;
	printf("%.0f\n", result.tick_ns);
	return fflush(stdout) ? 1 : 0;
}
