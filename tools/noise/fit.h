/* SPDX-License-Identifier: GPL-2.0 */
/* Distributions fitted to times, and how far from these they are. */
#ifndef NOISE_FIT_H
#define NOISE_FIT_H

#include <stdbool.h>

#include "families.h"

/* Fewer times than these tell nothing of a distribution's tails. */
#define FIT_TIMES_MIN	20

struct fit {
	struct dist dist;
	double log_likelihood;
	double anderson_darling;
	bool converged;		/* else nothing is known but the family */
};

/*
 * Why nothing can be fitted to these times, in seconds and in ascending order,
 * or NULL. Where more than a third of them are equal, likelihoods are infinite.
 */
const char *fit_refuses(const double *sorted, size_t count);

/* The lower limit of a Levy distribution's location, and its end: seconds. */
struct limits {
	double least;		/* -INFINITY: nothing */
	double bound;		/* over all times */
};

/*
 * Where a Levy distribution is to end if nobody says it: beyond the longest
 * time by what the times are apart on average. The likelihood is largest where
 * it ends at the longest time itself, which then could not have been longer.
 */
double fit_bound(const double *sorted, size_t count);

/* By maximum likelihood. The limits are for LEVY. */
struct fit fit_family(enum family family, const double *sorted, size_t count,
		      const struct limits *limits);

/* The same for the family of d, by a search that begins at d. */
struct fit fit_family_from(const struct dist *d, const double *sorted,
			   size_t count, const struct limits *limits);

/*
 * The statistic of Anderson and Darling: the squared distance of the two
 * cumulative distributions, weighted so that tails count as much as the middle.
 * Infinite where a time is impossible.
 */
double fit_anderson_darling(const struct dist *d, const double *sorted,
			    size_t count);

/* The one with the smallest statistic, or NULL if none converged. */
const struct fit *fit_closest(const struct fit *fits, size_t count);

#endif
