/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes learnt cutoffs with their samples as a file, and as tables from which
 * cutoffs can be computed again.
 */
#ifndef MEASURE_LEARNT_FILE_H
#define MEASURE_LEARNT_FILE_H

#include <jansson.h>

#include "circumstances.h"
#include "learn.h"

/* A new reference. */
json_t *learnt_json(const struct learnt *learnt, const struct circumstances *c);

/*
 * Reads all but the cutoffs and the executions. 0, or 1 if the file has cutoffs
 * only, or -1 after a message. Either is to be freed in any case.
 */
int learnt_parse(struct learnt *learnt, struct circumstances *c,
		 const json_t *root, const char *path);

/*
 * Writes the tables into a directory, which must be there. 0, or -1 after a
 * message.
 */
int learnt_write_tables(const struct learnt *learnt, const char *directory);

#endif
