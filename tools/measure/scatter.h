/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The dual-execution scatter plot. A dual execution is a pair of samples: the
 * first and second, the third and fourth, and so on. Each pair is a point at the
 * first one's elapsed time and the second one's. A second plot shows the central
 * cluster alone. A last sample without a partner is not shown.
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
