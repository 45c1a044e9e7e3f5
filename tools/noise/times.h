/* SPDX-License-Identifier: GPL-2.0 */
/* Times from a file. */
#ifndef NOISE_TIMES_H
#define NOISE_TIMES_H

#include <stddef.h>

#include "collect.h"

/* The columns of the tables that are written here; older ones have the first. */
#define TIMES_COLUMN		"time_s"
#define VOLUNTARY_COLUMN	"voluntary_switches"
#define INVOLUNTARY_COLUMN	"involuntary_switches"

struct times {
	double *seconds;	/* over 0 */
	double *switches[NR_SWITCHES];	/* NULL if the file has none */
	size_t count;
};

/*
 * Reads times from a file. If its name ends with .json, tense measure --json wrote
 * it. Else it is a table with this column. If column is NULL, it is a table of tense
 * noise, or has one number in each line. 0, or -1 after a message.
 */
int times_read(const char *path, const char *column, struct times *times);
void times_free(struct times *times);

#endif
