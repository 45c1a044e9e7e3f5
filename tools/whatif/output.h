/* SPDX-License-Identifier: GPL-2.0 */
/* The answer, for readers. */
#ifndef TOOLS_WHATIF_OUTPUT_H
#define TOOLS_WHATIF_OUTPUT_H

#include <stdio.h>

#include "whatif.h"

/* stats: also what was scaled and how, and what that cost. */
void whatif_table(FILE *f, const struct whatif *w, bool colour, bool stats);

/* The columns that the names of the variants take in a table. */
int whatif_name_width(const struct whatif_plan *plan);

/* A line for each variant. 0, or -1 with errno. */
int whatif_csv(FILE *f, const struct whatif *w);

/* The parts of that: the line with the names of the columns, and a variant's line. */
void whatif_csv_names(FILE *f);
void whatif_csv_row(FILE *f, const struct whatif *w, size_t condition);

/* A field of text, in quotes where it has to be. */
void whatif_csv_text(FILE *f, const char *text);

/* A page that needs nothing else. 0, or -1 with errno. */
int whatif_html(FILE *f, const struct whatif *w);

/*
 * The curve of such a page, as an <svg>. beside: less what the function's
 * share of the time promises.
 */
void whatif_curve(FILE *f, const struct whatif *w, bool beside);

/* "1,234", "0.974 s": as many digits as a reader wants. */
void whatif_number(char *buf, size_t size, double value, const char *unit);

#endif
