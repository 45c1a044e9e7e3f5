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
	double *switches[NR_SWITCHES];	/* NULL if the file does not tell */
	size_t count;
};

/*
 * From what tense measure --json wrote if the name ends with .json, else from the
 * column of a table, or, if column is NULL, from a table of this program or lines of
 * one number each. 0, or -1 after a message.
 */
int times_read(const char *path, const char *column, struct times *times);
void times_free(struct times *times);

#endif
