/* SPDX-License-Identifier: GPL-2.0 */
/* Is a fit as far from its times as a true distribution would be from its own? */
#ifndef NOISE_BOOTSTRAP_H
#define NOISE_BOOTSTRAP_H

#include "fit.h"

struct bootstrap {
	size_t replicates;	/* 0: none */
	bool own_bound;		/* the Levy's bound was chosen by the times */
	double least;		/* see struct limits */
	double bound;		/* if it was not */
	void (*progress)(void *arg);	/* after each replicate; may be NULL */
	void *arg;
};

/*
 * The p-value of the statistic of Anderson and Darling, by a parametric bootstrap.
 * A replicate draws as many times from the fit, and fits the family to them. The
 * p-value counts replicates that are at least as far off. The same times always give
 * the same value. NAN without replicates, if the fit did not converge, or if no
 * replicate did.
 */
double bootstrap_p_value(const struct bootstrap *b, const struct fit *fit,
			 size_t count);

#endif
