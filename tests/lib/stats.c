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

struct estimate stats_estimate(const double *values, size_t count)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double *resample = new_values(count), *medians = new_values(RESAMPLES);
	struct estimate estimate;

	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < count; j++)
			resample[j] = values[gsl_rng_uniform_int(rng, count)];
		medians[i] = stats_median(resample, count);
	}
	gsl_sort(medians, 1, RESAMPLES);
	estimate.low = gsl_stats_quantile_from_sorted_data(medians, 1,
							   RESAMPLES, 0.025);
	estimate.high = gsl_stats_quantile_from_sorted_data(medians, 1,
							    RESAMPLES, 0.975);
	for (size_t j = 0; j < count; j++)
		resample[j] = values[j];
	estimate.median = stats_median(resample, count);
	gsl_rng_free(rng);
	free(resample);
	free(medians);
	return estimate;
}
