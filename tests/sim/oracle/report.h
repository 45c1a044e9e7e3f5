/* SPDX-License-Identifier: GPL-2.0 */
/* How far a machine was off, over all operations. */
#ifndef ORACLE_REPORT_H
#define ORACLE_REPORT_H

#include "oracle.h"

/* 0, 1, 2, 3-4, 5-8 ... hops from CPU to CPU; after waits for the outside. */
#define REPORT_ROWS	9

struct errors {
	double *of;		/* in windows; less than 0: too early */
	size_t count, room;
};

struct report {
	struct errors row[REPORT_ROWS];
};

/* Compares the machine's results with @ideal, in windows. Both are of @p. */
void report_add(struct report *r, const struct program *p,
		const struct results *ideal, const struct results *real);

/* A table, as comments of TAP. */
void report_print(struct report *r, const char *title);
void report_free(struct report *r);

#endif
