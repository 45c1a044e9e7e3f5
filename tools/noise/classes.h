/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of times: those of one length of the work and one number of processes per
 * core. refit takes them.
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
 * Quantiles over those of the Levy fit, a panel for each class; and the error of the
 * waits of M/M/1 over the divergence from it, a point for each. 0, or -1 with errno.
 */
int classes_svg(FILE *f, const struct classes *c);
int classes_queue_svg(FILE *f, const struct classes *c);

#endif
