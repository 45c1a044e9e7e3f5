/* SPDX-License-Identifier: GPL-2.0 */
/* Print the cost of a run in real and virtual time, as a table or as JSON. */
#ifndef TOOLS_STATS_H
#define TOOLS_STATS_H

#include <stdio.h>

#include "backend.h"

#define STATS_JSON_VERSION	2

/* stats as of launch(): NULL for a run in real time. */
void stats_print(FILE *f, const struct run *run, const struct backend *backend,
		 const struct outcome *out, const void *stats);

/* 0, or -1 with errno. */
int stats_json(FILE *f, const struct run *run, const struct backend *backend,
	       int status, const struct outcome *out, const void *stats);

#endif
