/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FIGURE_H
#define FIGURE_H

#include "../lib/stats.h"

/*
 * Hands a measured figure on to bench-report: a line "figure ID MEDIAN LOW
 * HIGH SAMPLES" at the end of the file that $FIGURES names, if it is set.
 */
void figure_add(const char *id, const struct estimate *estimate,
		size_t samples);

#endif
