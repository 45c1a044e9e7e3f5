/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEASURE_LEARNT_TEXT_H
#define MEASURE_LEARNT_TEXT_H

#include <stdio.h>

#include "circumstances.h"
#include "learn.h"

/*
 * What was learnt as tables for readers, of cutoffs that may have been read
 * from its file; c is when and where, here what is so now.
 */
void learnt_text(FILE *f, const struct learnt *learnt,
		 const struct cutoffs *cutoffs, const struct circumstances *c,
		 const struct circumstances *here);

/* All scatter plots, if they are asked for or f is a terminal. */
void learnt_plot(FILE *f, const struct learnt *learnt, bool asked);

/* Of cutoffs alone; periods may be without any. */
void cutoffs_text(FILE *f, const struct cutoffs *cutoffs,
		  const struct learnt *learnt);

#endif
