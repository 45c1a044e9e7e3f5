/* SPDX-License-Identifier: GPL-2.0 */
/* The noise that is to be expected of so many processes and such work. */
#ifndef NOISE_MODEL_H
#define NOISE_MODEL_H

#include <stddef.h>

#include "families.h"

#define TERMS	3

/*
 * With n processes per core and work of t seconds, three times are each
 * exp(A + B log n + C log t), in seconds: the best case, which is the work and the
 * Levy's location; its scale; its range, from the location to the bound.
 */
struct law {
	double of[TERMS];	/* A, B and C */
	double r2;		/* R^2 of the logarithms, or NAN */
	double error;		/* deviation of the logarithms, or NAN */
};

enum parameter { BEST, SCALE, RANGE, NR_PARAMETERS };

struct coefficients {
	struct law laws[NR_PARAMETERS];
};

const char *parameter_name(enum parameter parameter);

/* The fit to times of one length and number of processes. */
struct cell {
	unsigned int per_core;
	double length;		/* seconds */
	struct dist levy;	/* its location is over -length */
	enum family closest;
};

/*
 * By least squares. 0, or -1 if the cells do not tell: fewer than four, or all of
 * one length or number of processes.
 */
int coefficients_regress(struct coefficients *c, const struct cell *cells,
			 size_t count);

/*
 * Predicts the distribution. 0, or -1 if the coefficients give none: its scale
 * is beyond LEVY_SCALE_MAX ranges, or is no number.
 */
int coefficients_predict(const struct coefficients *c, unsigned int per_core,
			 double length, struct dist *levy);

#endif
