/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the functions that the question names in the command. */
#ifndef TOOLS_WHATIF_NAMES_H
#define TOOLS_WHATIF_NAMES_H

#include "found.h"
#include "question.h"

/*
 * Finds the functions in the command before it runs; ends the program where
 * that is sure to fail.
 */
void whatif_names(const struct whatif_question *q, struct whatif_found *found,
		  bool probes);

#endif
