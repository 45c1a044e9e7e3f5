// SPDX-License-Identifier: GPL-2.0
/*
 * Prints how much more of the kernel's memory a thread takes in an experiment
 * than outside, from runs of many-tasks, each in its own boot.
 */
#include <stdio.h>

#include "../lib/stats.h"
#include "figure.h"
#include "log.h"

#define ROUNDS_MAX	100

static double difference(const struct log *log, int round, const char *key)
{
	return 1024 * (log_get(log, "experiment", round, key) -
		       log_get(log, "plain", round, key));
}

int main(void)
{
	double kernel[ROUNDS_MAX], used[ROUNDS_MAX];
	struct estimate e;
	struct log log;
	int rounds;

	log_read(&log, stdin);
	rounds = log_rounds(&log);
	if (rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: more than %d rounds\n", ROUNDS_MAX);
		return 1;
	}
	for (int i = 0; i < rounds; i++) {
		kernel[i] = difference(&log, i, "slab_kb") +
			    difference(&log, i, "percpu_kb");
		used[i] = difference(&log, i, "used_kb");
	}
	e = stats_estimate(used, rounds);
	printf("all memory used: %.0f bytes more [%.0f %.0f]\n", e.median,
	       e.low, e.high);
	e = stats_estimate(kernel, rounds);
	printf("slab and percpu: %.0f bytes more [%.0f %.0f], %d boots\n",
	       e.median, e.low, e.high, rounds);
	figure_add("thousand_tasks_bytes", &e, rounds);
	log_free(&log);
	return fflush(stdout) ? 1 : 0;
}
