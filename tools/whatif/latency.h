/* SPDX-License-Identifier: GPL-2.0 */
/* The time from calls of one function to calls of another one. */
#ifndef TOOLS_WHATIF_LATENCY_H
#define TOOLS_WHATIF_LATENCY_H

#include "samples.h"

/*
 * "A,B": the two names, which the caller frees. NULL, or what is wrong, which
 * is the caller's to free as well.
 */
char *whatif_latency_parse(const char *text, char **from, char **to);

/* An empty file for the marks of a run. 0, or -1 with errno. */
int whatif_latency_create(const char *path);

/*
 * Pairs the marks of a run, of libtense/symbols/marks.h: each call of B with the first
 * call of A that has no pair yet. The mean, in ns, or NAN if there are no pairs.
 */
double whatif_latency_pair(const uint64_t *marks, size_t n,
			   struct whatif_latency *latency);

/* The metric of a run, of the file. NULL, or why there is none. */
char *whatif_latency_read(const char *path, struct whatif_sample *sample);

#endif
