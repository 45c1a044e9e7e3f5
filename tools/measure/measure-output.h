/* SPDX-License-Identifier: GPL-2.0 */
/* A measurement, as text, JSON, CSV and Markdown. Each is 0, or -1 with errno. */
#ifndef MEASURE_MEASURE_OUTPUT_H
#define MEASURE_MEASURE_OUTPUT_H

#include <stdio.h>

#include "measure.h"

#define MEASURE_JSON_VERSION	2

int measure_text(FILE *f, const struct measurement *m);
int measure_json(FILE *f, const struct measurement *m);
int measure_csv(FILE *f, const struct measurement *m);
int measure_markdown(FILE *f, const struct measurement *m);

/* The unit that all values of a column share, so that the eye can compare. */
struct scale {
	const char *unit;
	double factor;		/* value = seconds * factor */
};

struct scale scale_of(double seconds);

const char *verdict_name(enum emp_verdict verdict);

#endif
