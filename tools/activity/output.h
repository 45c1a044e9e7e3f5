/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Print a recording or measurement in all formats. Each function returns 0, or
 * -1 with errno.
 */
#ifndef PERIODS_OUTPUT_H
#define PERIODS_OUTPUT_H

#include <stdio.h>

#include "interval-error.h"

#define PERIODS_JSON_VERSION	1

struct activity {
	struct watcher watcher;
	struct recording *recordings;
	size_t count;
	size_t listed;		/* inactive periods of each that text lists */
};

struct interval_errors {
	struct watcher watcher;
	struct error_samples samples;
	struct error_row *rows;
	size_t nr_rows;
	double tick_ns;		/* the resolution of times(2) */
};

int activity_text(FILE *f, const struct activity *a);
int activity_json(FILE *f, const struct activity *a);
int activity_csv(FILE *f, const struct activity *a);
int activity_svg(FILE *f, const struct activity *a);

int errors_text(FILE *f, const struct interval_errors *e);
int errors_json(FILE *f, const struct interval_errors *e);
int errors_csv(FILE *f, const struct interval_errors *e);
int errors_svg(FILE *f, const struct interval_errors *e);

/* The counter's unit, as in "cycles": the caller does not free it. */
const char *unit_name(const struct watcher *w);

/* Describes the counter that the loop read; the caller frees the text. */
char *counter_text(const struct watcher *w);

/* As in "no load added" and "2 busy processes added"; the caller frees it. */
char *load_text(unsigned int load);

#endif
