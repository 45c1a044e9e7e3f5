/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of comma-separated values: reading columns by their names, writing. */
#ifndef MEASURE_CSV_H
#define MEASURE_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CSV_MAX_COLUMNS	8

struct csv {
	const char *path;
	FILE *f;
	char *buffer;
	size_t size;
	unsigned int line;
	const char *const *names;	/* the columns that are wanted */
	size_t nr_names;
	size_t at[CSV_MAX_COLUMNS];	/* where they are in the file */
};

/*
 * Opens a file and reads its first line, which names the columns. They may be
 * in any order and there may be others. 0, or -1 after a message.
 */
int csv_open(struct csv *csv, const char *path, const char *const *names,
	     size_t nr_names);

/* The same for one that is open, which is closed with it, or after a message. */
int csv_begin(struct csv *csv, FILE *f, const char *path,
	      const char *const *names, size_t nr_names);
void csv_close(struct csv *csv);

/*
 * The next row, in the order of names; good until the next call. 1, 0 at the
 * end, or -1 after a message.
 */
int csv_next(struct csv *csv, char **values);

/*
 * A number that is not negative, or a whole one, in the current row. 0, or -1
 * after a message.
 */
int csv_number(const struct csv *csv, const char *text, double *number);
int csv_whole(const struct csv *csv, const char *text, uint64_t *number);

/* Warns of an error in the current row. */
void csv_complain(const struct csv *csv, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a value, in quotes where it needs them. */
void csv_put(FILE *f, const char *text);

#endif
