/* SPDX-License-Identifier: GPL-2.0 */
/* Models that predict the noise of so many processes and such work. */
#ifndef NOISE_MODEL_H
#define NOISE_MODEL_H

#include <stddef.h>

#include "families.h"

#define TERMS	3

/*
 * For n processes per core and work of t seconds, a model predicts three times, in
 * seconds: the best case, which is t plus the Levy's location; the Levy's scale; and
 * its range, from the location to the bound. Each is
 * - FORM_LOG: exp(A + B log n + C log t);
 * - FORM_LINEAR: A + B n + C t, as published.
 */
enum form { FORM_LOG, FORM_LINEAR, NR_FORMS };

struct law {
	double of[TERMS];	/* A, B and C */
	double r2;		/* R^2 of what was fitted, or NAN */
	double error;		/* deviation: of logarithms, or seconds; or NAN */
};

enum parameter { BEST, SCALE, RANGE, NR_PARAMETERS };

struct coefficients {
	enum form form;
	struct law laws[NR_PARAMETERS];
};

/* The name of a form in options and files. */
const char *form_name(enum form form);

const char *parameter_name(enum parameter parameter);

/* The fit to times of one length and number of processes. */
struct cell {
	unsigned int per_core;
	double length;		/* seconds */
	struct dist levy;	/* its location is over -length; all in seconds */
	enum family closest;
};

/*
 * By least squares. 0, or -1 if the cells do not tell: fewer than four, or all of
 * one length or number of processes.
 */
int coefficients_regress(struct coefficients *c, enum form form,
			 const struct cell *cells, size_t count);

/*
 * Predicts the distribution. 0, or -1 if the coefficients give none: the best case, the
 * scale or the range is not positive or no number, or the scale exceeds LEVY_SCALE_MAX
 * ranges.
 */
int coefficients_predict(const struct coefficients *c, unsigned int per_core,
			 double length, struct dist *levy);

#endif
