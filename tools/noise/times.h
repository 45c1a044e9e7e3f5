/* SPDX-License-Identifier: GPL-2.0 */
/* Times from a file. */
#ifndef NOISE_TIMES_H
#define NOISE_TIMES_H

#include <stddef.h>

/* The only one of the tables that are written here. */
#define TIMES_COLUMN	"time_s"

/*
 * In seconds and over 0, from what tense measure --json wrote if the name ends with .json,
 * else from the column of a table, or, if column is NULL, from such a table or lines
 * of one number each. 0, or -1 after a message. The caller frees them.
 */
int times_read(const char *path, const char *column, double **times,
	       size_t *count);

#endif
