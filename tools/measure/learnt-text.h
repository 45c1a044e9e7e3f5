/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEASURE_LEARNT_TEXT_H
#define MEASURE_LEARNT_TEXT_H

#include <stdio.h>

#include "circumstances.h"
#include "learn.h"

/*
 * Prints tables for readers. The cutoffs may come from a file: c tells when and
 * where it was made, here tells the machine of today.
 */
void learnt_text(FILE *f, const struct learnt *learnt,
		 const struct cutoffs *cutoffs, const struct circumstances *c,
		 const struct circumstances *here);

/* All scatter plots, if they are asked for or f is a terminal. */
void learnt_plot(FILE *f, const struct learnt *learnt, bool asked);

/* Prints the cutoffs only. The learnt periods may be empty. */
void cutoffs_text(FILE *f, const struct cutoffs *cutoffs,
		  const struct learnt *learnt);

#endif
