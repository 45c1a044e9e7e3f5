/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of the protocol EMP: outliers, averages and their errors,
 * ratios of two programs. Times have any unit.
 */
#ifndef MEASURE_EMP_H
#define MEASURE_EMP_H

#include <stdbool.h>
#include <stddef.h>

/* What follows from one value only is NAN. */
struct summary {
	size_t count;
	double mean;
	double stddev;		/* of the sample, by count - 1 */
	double low;		/* 95 % interval of the mean, by Student's t */
	double high;
};

/* Of those that are kept; NULL keeps all. */
struct summary emp_summary(const double *values, const bool *kept,
			   size_t count);

/*
 * Of those that are kept, drops what is more than two standard deviations from
 * their mean: once, since what is then left looks narrower each time. Of what
 * is left, the interval is as much wider as makes it hold the mean in 95 % of
 * cases where times scatter normally, and the rule dropped some of the scatter.
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
 * Whether the relative deviation of one column is less than that of another,
 * both measured on the same samples: the probability of a difference so large
 * if there were none (test of Pitman and Morgan, two-sided), with a sign that is
 * negative where a has the smaller one. NAN with less than four samples.
 */
double emp_less_spread(const double *a, const double *b, const bool *kept,
		       size_t count);

/* Of less than two pairs, nothing is known. */
enum emp_verdict { EMP_LESS, EMP_MORE, EMP_SAME, EMP_UNKNOWN };

struct ratio {
	size_t count;
	double ratio;		/* geometric mean of b over a */
	double low;		/* 95 % interval */
	double high;
	enum emp_verdict verdict;
};

/*
 * Of values that were measured in pairs, side by side, so that a drift of the
 * machine is in both. What is beyond two standard deviations of the pairs'
 * ratios is dropped.
 */
struct ratio emp_ratio(const double *a, const double *b, const bool *kept,
		       size_t count);

#endif
