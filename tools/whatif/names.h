/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the functions that the question names in the command. */
#ifndef TOOLS_WHATIF_NAMES_H
#define TOOLS_WHATIF_NAMES_H

#include "names/resolve.h"
#include "found.h"
#include "question.h"

/*
 * Finds the functions in the command before it runs; ends the program where
 * that is sure to fail.
 */
void whatif_names(const struct whatif_question *q, struct whatif_found *found,
		  bool probes);

/*
 * Is the command linked statically? Ends the program if there is no such command, or
 * if its functions cannot be scaled: probes says whether the kernel has breakpoints.
 */
bool whatif_names_static(const struct whatif_question *q, bool probes);

/*
 * Returns why functions of a static program cannot be scaled, or NULL. In others,
 * libtense-functions.so tells.
 */
const char *whatif_names_refused(const struct tense_resolution *resolution);

/* Adds the functions that a name was resolved to. */
void whatif_names_add(struct whatif_found *found, unsigned int name,
		      const struct tense_resolution *resolution,
		      bool is_static);

#endif
