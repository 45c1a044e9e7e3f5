// SPDX-License-Identifier: GPL-2.0
/*
 * ratio FIGURE [-x|-d] VARIANT KEY VARIANT KEY <LOG: the first value over the
 * second in each round, median and interval. With -x, how far that is from 1,
 * in per cent; with -d, the difference instead, of ns in us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/stats.h"
#include "figure.h"
#include "log.h"

#define ROUNDS_MAX	1000

enum mode { RATIO, EXCESS, DIFFERENCE };

static enum mode mode_of(const char *option)
{
	if (option && !strcmp(option, "-x"))
		return EXCESS;
	return option && !strcmp(option, "-d") ? DIFFERENCE : RATIO;
}

static double compare(enum mode mode, double a, double b)
{
	switch (mode) {
	case EXCESS:
		return 100 * (a / b - 1);
	case DIFFERENCE:
		return (a - b) / 1000;
	default:
		return a / b;
	}
}

int main(int argc, char **argv)
{
	static const char *const text[][2] = {
		[RATIO] = { "over", "" },
		[EXCESS] = { "over", ", minus 1, %" },
		[DIFFERENCE] = { "minus", ", us" },
	};
	enum mode mode = mode_of(argc > 1 ? argv[2] : NULL);
	char **name = argv + 2 + (mode != RATIO);
	double ratio[ROUNDS_MAX];
	struct estimate estimate;
	struct log log;
	int rounds;

	if (argc != 6 + (mode != RATIO)) {
		fputs("Usage: ratio FIGURE [-x|-d] VARIANT KEY VARIANT KEY <LOG\n",
		      stderr);
		return 2;
	}
	log_read(&log, stdin);
	rounds = log_rounds(&log);
	if (rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: more than %d rounds\n", ROUNDS_MAX);
		return 1;
	}
	for (int i = 0; i < rounds; i++)
		ratio[i] = compare(mode, log_get(&log, name[0], i, name[1]),
				   log_get(&log, name[2], i, name[3]));
	estimate = stats_estimate(ratio, rounds);
	printf("%s %s %s%s: %.4f [%.4f %.4f], %d rounds\n", name[1],
	       text[mode][0], name[3], text[mode][1], estimate.median,
	       estimate.low, estimate.high, rounds);
	figure_add(argv[1], &estimate, rounds);
	log_free(&log);
	return fflush(stdout) ? 1 : 0;
}
