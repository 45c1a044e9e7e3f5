/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results of refit by class. A class of times has one length of the work and one
 * number of processes per core.
 */
#ifndef NOISE_CLASSES_H
#define NOISE_CLASSES_H

#include <stdio.h>

#include "model.h"
#include "report.h"

struct classes {
	const struct cell *cells;
	const struct report *reports;	/* of each cell */
	size_t count;
};

/* The results of each class, as a table. */
void classes_text(FILE *f, const struct classes *c);

/*
 * classes_svg() draws a panel for each class: quantiles over those of the Levy fit.
 * classes_queue_svg() draws a point for each class: the error of the waits of M/M/1
 * over the divergence from it. Both return 0, or -1 with errno.
 */
int classes_svg(FILE *f, const struct classes *c);
int classes_queue_svg(FILE *f, const struct classes *c);

#endif
