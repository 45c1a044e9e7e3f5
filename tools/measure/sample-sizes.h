/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sample-size study of EMP finds out whether fewer samples suffice. It halves
 * the number of samples again and again. For each number, it divides all samples
 * into as many subsets of this size as fit.
 */
#ifndef MEASURE_SAMPLE_SIZES_H
#define MEASURE_SAMPLE_SIZES_H

#include <jansson.h>
#include <stdio.h>

#include "measure.h"

#define SAMPLE_SIZES_RUNS	300
/* None of five samples can be beyond two standard deviations. */
#define SAMPLE_SIZES_LEAST	6
#define SAMPLE_SIZES_MAX	16

/* Fractions of the mean of all samples that are kept; NAN if it is not known. */
struct sample_size {
	size_t size;		/* samples in a subset */
	size_t subsets;
	double outliers;	/* dropped from a subset, on average */
	double deviation;	/* within a subset, on average */
	double between;		/* deviation of the means of the subsets */
	double worst;		/* the mean of a subset that is furthest off */
};

struct sample_sizes {
	struct sample_size list[SAMPLE_SIZES_MAX];	/* the largest first */
	size_t count;
	size_t chosen;		/* 0: not even half of the samples suffice */
};

/*
 * Studies the samples of a measurement that is assessed. A size suffices if each
 * subset's mean differs from the mean of all samples by at most the fraction epsilon.
 * Chooses the smallest size that suffices, if all larger sizes suffice, too.
 */
void sample_sizes_study(const struct subject *subject, enum metric metric,
			double epsilon, struct sample_sizes *sizes);

void sample_sizes_text(FILE *f, const struct measurement *m);
json_t *sample_sizes_json(const struct measurement *m);

#endif
