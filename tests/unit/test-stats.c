// SPDX-License-Identifier: GPL-2.0
/* Medians, and intervals that hold what they promise. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "../lib/stats.h"
#include "../lib/tap.h"

#define SAMPLES		200
#define SIZE		15

static bool is(double got, double expected)
{
	return got > expected - 1e-9 && got < expected + 1e-9;
}

/* How many of the intervals hold the true median, 10. */
static int covered(double *mean_width)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	double width = 0;
	int hits = 0;

	for (int i = 0; i < SAMPLES; i++) {
		double values[SIZE];
		struct estimate e;

		for (int j = 0; j < SIZE; j++)
			values[j] = 10 + gsl_ran_gaussian(rng, 1);
		e = stats_estimate(values, SIZE);
		hits += e.low <= 10 && 10 <= e.high;
		width += (e.high - e.low) / SAMPLES;
	}
	gsl_rng_free(rng);
	*mean_width = width;
	return hits;
}

int main(void)
{
	double odd[] = { 5, 1, 9 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	double same[] = { 2, 2, 2, 2 }, spread[] = { 3, 1, 2, 5, 4, 7, 6 };
	double width;
	struct estimate e, again;
	struct interval mean;
	int hits;

	ok(is(stats_median(odd, 3), 5), "median of three");
	ok(is(stats_median(even, 4), 2.5), "median of four");
	e = stats_estimate(one, 1);
	ok(is(e.median, 7) && is(e.low, 7) && is(e.high, 7), "one value");
	e = stats_estimate(same, 4);
	ok(is(e.median, 2) && is(e.low, 2) && is(e.high, 2), "equal values");
	e = stats_estimate(spread, 7);
	ok(is(e.median, 4) && e.low >= 1 && e.low < 4 && e.high > 4 &&
	   e.high <= 7, "seven values");
	ok(is(spread[0], 3), "the values keep their order");
	again = stats_estimate(spread, 7);
	ok(is(e.low, again.low) && is(e.high, again.high),
	   "the same values, the same interval");

	mean = stats_mean_interval(same, 4);
	ok(is(mean.low, 2) && is(mean.high, 2), "mean of equal values");
	mean = stats_mean_interval(spread, 7);
	/* Its standard error is 2 / sqrt(7). */
	ok(mean.low > 4 - 1.96 * 0.76 - 0.3 && mean.low < 4 - 1.96 * 0.76 + 0.3 &&
	   mean.high > 4 + 1.96 * 0.76 - 0.3 && mean.high < 4 + 1.96 * 0.76 + 0.3,
	   "mean of seven values: [%.2f %.2f]", mean.low, mean.high);

	hits = covered(&width);
	ok(hits >= 0.90 * SAMPLES && hits < SAMPLES,
	   "%d of %d 95 %% intervals hold the truth", hits, SAMPLES);
	/* The standard error of the median is 1.2533 / sqrt(15). */
	ok(width > 0.8 * 1.27 && width < 1.25 * 1.27,
	   "their mean width, %.2f, is near 1.27", width);
	return done();
}
