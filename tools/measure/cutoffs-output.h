/* SPDX-License-Identifier: GPL-2.0 */
/* Cutoffs, and the samples that they discard, as CSV and as JSON. */
#ifndef MEASURE_CUTOFFS_OUTPUT_H
#define MEASURE_CUTOFFS_OUTPUT_H

#include <stdio.h>

#include <jansson.h>

#include "cutoffs.h"

#define CUTOFFS_JSON_VERSION	1

void cutoffs_csv(FILE *f, const struct cutoffs *cutoffs);

/* The header is for either length. */
void discarded_csv_header(FILE *f);
void discarded_csv(FILE *f, const struct cutoffs *cutoffs,
		   enum task_length length, const struct runs *runs);

/* New references. */
json_t *cutoffs_json(const struct cutoffs *cutoffs);
json_t *discarded_json(const struct cutoffs *cutoffs, enum task_length length,
		       const struct runs *runs);

#endif
