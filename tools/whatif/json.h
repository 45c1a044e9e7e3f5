/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_WHATIF_JSON_H
#define TOOLS_WHATIF_JSON_H

#include <stdio.h>

#include "whatif.h"

#define WHATIF_SCHEMA		"tense-whatif"
#define WHATIF_JSON_VERSION	2

/* All that was asked, measured and concluded. 0, or -1 with errno. */
int whatif_json_write(FILE *f, const struct whatif *w);

/*
 * Reads the question and the samples from a file of whatif_json_write(), of this
 * version or an earlier one. Returns NULL, or a description of the error, which
 * the caller frees.
 */
char *whatif_json_read(FILE *f, struct whatif *w);

/* Reads the file at path. Ends the program if it cannot. */
void whatif_json_load(struct whatif *w, const char *path);

/*
 * Writes the request to the tense in a guest, in the same schema: the question,
 * the planned conditions and the found functions. Returns 0, or -1 with errno.
 */
int whatif_request_write(FILE *f, const struct whatif_question *q,
			 const struct whatif_found *found,
			 const struct whatif_plan *plan);

/* Returns NULL, or a description of the error, which the caller frees. */
char *whatif_request_read(FILE *f, struct whatif *w);

#endif
