/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of the protocol EMP: outliers, averages and their errors,
 * ratios of two programs. Times have any unit.
 */
#ifndef MEASURE_EMP_H
#define MEASURE_EMP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * With one value only, the deviation and the interval are NAN. Without one, all
 * but the count are.
 */
struct summary {
	size_t count;
	double mean;
	double stddev;		/* sample deviation, by count - 1 */
	double min;
	double max;
	double low;		/* 95 % interval of the mean, by Student's t */
	double high;
};

/* Summarises the values that are kept; NULL keeps all. */
struct summary emp_summary(const double *values, const bool *kept,
			   size_t count);

/*
 * Drops kept values that are more than two standard deviations from their mean.
 * It does so once, because the rest would look narrower each time. The rule
 * also drops normal scatter, so the interval is widened to hold the mean in
 * 95 % of cases.
 */
struct summary emp_two_sigma(const double *values, bool *kept, size_t count);

/*
 * The same of what is never negative, such as times: an interval of the mean's
 * logarithm, whose deviation is the relative one of the mean. It holds the mean as
 * often where times scatter normally, more often where few of them are long, and
 * both ends are times.
 */
struct summary emp_positive(struct summary s);

/*
 * Compares the relative deviations of two columns of the same samples, by the test
 * of Pitman and Morgan. Returns the probability, two-sided, of a difference so large
 * if there were none. It is negative if a has the smaller deviation. NAN with less
 * than four samples.
 */
double emp_less_spread(const double *a, const double *b, const bool *kept,
		       size_t count);

/* The verdict on less than two pairs is EMP_UNKNOWN. */
enum emp_verdict { EMP_LESS, EMP_MORE, EMP_SAME, EMP_UNKNOWN };

struct ratio {
	size_t count;
	double ratio;		/* geometric mean of b over a */
	double low;		/* 95 % interval */
	double high;
	enum emp_verdict verdict;
};

/*
 * Compares values that were measured in pairs, side by side: a drift of the
 * machine is in both. Drops pairs whose ratio is more than two standard
 * deviations from the mean.
 */
struct ratio emp_ratio(const double *a, const double *b, const bool *kept,
		       size_t count);

#endif
