/* SPDX-License-Identifier: GPL-2.0 */
/* Judges models by their predictions of times that they were not fitted to. */
#ifndef NOISE_EVALUATE_H
#define NOISE_EVALUATE_H

#include "model.h"

/* Figures of one class from times that the model was not fitted to. */
struct held_out {
	unsigned int per_core;
	double length;		/* seconds */
	double mean;		/* of the noise, seconds */
	double variance;	/* seconds squared */
};

struct evaluation {
	double mean_r2;		/* over the classes, or NAN */
	double variance_r2;
	size_t classes;
	size_t impossible;	/* of these: the model gives no distribution */
};

/*
 * R^2 of the predictions: 1 minus the squared errors of the model over those of the
 * mean of all classes. It may be negative. NAN with fewer than two classes, or if one of
 * them is impossible.
 */
struct evaluation evaluate(const struct coefficients *c,
			   const struct held_out *classes, size_t count);

/* The form whose mean_r2 is larger; FORM_LOG if neither has one. */
enum form evaluation_better(const struct evaluation *of_forms);

#endif
