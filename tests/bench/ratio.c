// SPDX-License-Identifier: GPL-2.0
/*
 * ratio FIGURE [-x] VARIANT KEY VARIANT KEY <LOG: the first value over the
 * second in each round, median and interval. With -x, how far that is from 1,
 * in per cent.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/stats.h"
#include "figure.h"
#include "log.h"

#define ROUNDS_MAX	1000

int main(int argc, char **argv)
{
	bool excess = argc > 2 && !strcmp(argv[2], "-x");
	char **name = argv + 2 + excess;
	double ratio[ROUNDS_MAX];
	struct estimate estimate;
	struct log log;
	int rounds;

	if (argc != 6 + excess) {
		fputs("Usage: ratio FIGURE [-x] VARIANT KEY VARIANT KEY <LOG\n",
		      stderr);
		return 2;
	}
	log_read(&log, stdin);
	rounds = log_rounds(&log);
	if (rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: more than %d rounds\n", ROUNDS_MAX);
		return 1;
	}
	for (int i = 0; i < rounds; i++) {
		ratio[i] = log_get(&log, name[0], i, name[1]) /
			   log_get(&log, name[2], i, name[3]);
		if (excess)
			ratio[i] = 100 * (ratio[i] - 1);
	}
	estimate = stats_estimate(ratio, rounds);
	printf("%s over %s%s: %.4f [%.4f %.4f], %d rounds\n", name[1], name[3],
	       excess ? ", minus 1, %" : "", estimate.median, estimate.low,
	       estimate.high, rounds);
	figure_add(argv[1], &estimate, rounds);
	log_free(&log);
	return fflush(stdout) ? 1 : 0;
}
