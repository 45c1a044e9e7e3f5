// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <stdio.h>
#include <stdlib.h>

#define RESAMPLES	10000

static double *new_values(size_t count)
{
	double *values = malloc(count * sizeof(*values));

	if (!values) {
		fputs("no memory for statistics\n", stderr);
		exit(1);
	}
	return values;
}

double stats_median(double *values, size_t count)
{
	gsl_sort(values, 1, count);
	return gsl_stats_median_from_sorted_data(values, 1, count);
}

static double mean(double *values, size_t count)
{
	return gsl_stats_mean(values, 1, count);
}

/* Resamples for a statistic, which may sort its argument. */
static struct interval bootstrap(const double *values, size_t count,
				 double (*statistic)(double *, size_t))
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double *resample = new_values(count), *results = new_values(RESAMPLES);
	struct interval interval;

	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < count; j++)
			resample[j] = values[gsl_rng_uniform_int(rng, count)];
		results[i] = statistic(resample, count);
	}
	gsl_sort(results, 1, RESAMPLES);
	interval.low = gsl_stats_quantile_from_sorted_data(results, 1,
							   RESAMPLES, 0.025);
	interval.high = gsl_stats_quantile_from_sorted_data(results, 1,
							    RESAMPLES, 0.975);
	gsl_rng_free(rng);
	free(resample);
	free(results);
	return interval;
}

struct interval stats_mean_interval(const double *values, size_t count)
{
	return bootstrap(values, count, mean);
}

struct estimate stats_estimate(const double *values, size_t count)
{
	struct interval interval = bootstrap(values, count, stats_median);
	double *sorted = new_values(count);
	struct estimate estimate = {
		.low = interval.low,
		.high = interval.high,
	};

	for (size_t j = 0; j < count; j++)
		sorted[j] = values[j];
	estimate.median = stats_median(sorted, count);
	free(sorted);
	return estimate;
}
