// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

#define ROUNDS_MAX	1000
/* A difference by chance this rare is not taken for one. */
#define UNLIKELY	0.01

void fail(const char *what, const char *detail)
{
	fprintf(stderr, "accuracy: %s: %s\n", what, detail);
	exit(1);
}

/* Converts a change of the logarithm into a gain. */
static double faster_by(double change)
{
	return 100 - 100 * exp(change);
}

static struct interval as_percent(struct interval change)
{
	return (struct interval) {
		.value = faster_by(change.value),
		.low = faster_by(change.high),
		.high = faster_by(change.low),
	};
}

/* The logarithm of a figure in each round of the variants; false: it is missing. */
static bool panel_of(const struct log *input, const char *const *variant,
		     const char *key, double *values)
{
	int rounds = log_rounds(input);

	for (int v = 0; v < 2; v++)
		for (int r = 0; r < rounds; r++) {
			double value = log_find(input, variant[v], r, key);

			if (!(value > 0))
				return false;
			values[v * rounds + r] = log(value);
		}
	return true;
}

/*
 * Does the figure depend on the speed of the machine only, and not on the variant? If
 * threads wait for each other, the variant decides which one is interrupted while the
 * speed is measured.
 */
static bool is_control(const double *values, size_t rounds)
{
	return paired_difference(values, values + rounds, rounds).p > UNLIKELY;
}

/*
 * A known amount of work tells the speed of the machine: work in the run itself, or
 * the run's work outside of the function, or else work around the run.
 */
struct interval faster(const struct log *input, const char *key,
		       const char *baseline, const char *variant)
{
	static const char *const speeds[] = {
		"ticks_per_unit", "outside_ns", "reference_ns"
	};
	static double y[2 * ROUNDS_MAX], speed[2 * ROUNDS_MAX];
	const char *const variants[] = { baseline, variant };
	struct panel panel = {
		.conditions = 2,
		.rounds = log_rounds(input),
		.y = y,
	};

	if (panel.rounds < 3 || panel.rounds > ROUNDS_MAX)
		fail("too few rounds, or too many", variant);
	if (!panel_of(input, variants, key, y))
		fail(key, "is missing in a round");
	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds) && !panel.control[0]; i++)
		if (panel_of(input, variants, speeds[i], speed) &&
		    is_control(speed, panel.rounds))
			panel.control[0] = speed;
	return as_percent(panel_adjusted(&panel, 1, 0));
}
