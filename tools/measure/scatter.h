/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The dual-execution scatter plot: a point for each two samples in succession,
 * of the first one's elapsed time and the second one's. Beside all of them, those
 * of the central cluster.
 */
#ifndef MEASURE_SCATTER_H
#define MEASURE_SCATTER_H

#include <stdio.h>

#include "learn.h"

/* For a terminal of 80 columns. */
void scatter_text(FILE *f, const struct series *series);

/* All series that have samples, one below the other. */
void scatter_svg(FILE *f, const struct learnt *learnt);

#endif
