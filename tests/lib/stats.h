/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STATS_H
#define STATS_H

#include <stddef.h>

struct estimate {
	double median;
	double low;		/* 95 % interval of the median */
	double high;
};

/* Sorts the values. */
double stats_median(double *values, size_t count);

/*
 * The interval is the percentile bootstrap. Its random numbers are the same
 * in each call: the same values give the same interval. count > 0.
 */
struct estimate stats_estimate(const double *values, size_t count);

struct interval {
	double low;
	double high;
};

/* 95 % interval of the mean, likewise. */
struct interval stats_mean_interval(const double *values, size_t count);

#endif
