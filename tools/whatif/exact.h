/* SPDX-License-Identifier: GPL-2.0 */
/* The files that a guest of --deterministic needs. */
#ifndef TOOLS_WHATIF_EXACT_H
#define TOOLS_WHATIF_EXACT_H

#include "found.h"
#include "question.h"

/*
 * Lists the files to pack for the command: the given ones, and those that are
 * known to be needed. The list ends with NULL. The caller frees it with
 * whatif_exact_free().
 */
char **whatif_exact_files(const struct whatif_question *q,
			  const struct whatif_found *found, char *const *files);
void whatif_exact_free(char **files);

#endif
