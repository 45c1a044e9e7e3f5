/* SPDX-License-Identifier: GPL-2.0 */
/* The distributions that times are held against. */
#ifndef NOISE_FAMILIES_H
#define NOISE_FAMILIES_H

#include <stddef.h>

enum family { LEVY, GAUSSIAN, GUMBEL, CAUCHY, NR_FAMILIES };

/* All in seconds. */
struct dist {
	enum family family;
	double location;
	double scale;	/* positive; the deviation of the Gaussian */
	double bound;	/* LEVY: there is nothing beyond it; else not used */
};

const char *family_name(enum family family);

/* The natural logarithm of the density of all values, per second each. */
double dist_log_likelihood(const struct dist *d, const double *values,
			   size_t count);

/* Natural logarithms of the probabilities that a time is below, and above. */
double dist_log_below(const struct dist *d, double x);
double dist_log_above(const struct dist *d, double x);

/* The quantile for p from 0 to 1, in seconds. */
double dist_quantile(const struct dist *d, double p);

/* In seconds and their squares; NAN where there is none. */
double dist_mean(const struct dist *d);
double dist_variance(const struct dist *d);

#endif
