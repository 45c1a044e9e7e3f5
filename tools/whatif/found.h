/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of the command that the question names. names.c finds them. */
#ifndef TOOLS_WHATIF_FOUND_H
#define TOOLS_WHATIF_FOUND_H

#include "question.h"

/* A function to be scaled by the kernel's breakpoints. */
struct whatif_probe {
	unsigned int slot;
	char *object;
	char *symbol;
	uint64_t offset;	/* in the object's file */
};

struct whatif_found {
	/* Lines with the functions that a name stands for. NULL: the name. */
	char *specs[WHATIF_NAMES];
	/* Functions of a program into which no library can be loaded. */
	struct whatif_probe *probes;
	size_t nr_probes;
	/* Files in which the functions were found, with their debug files. */
	char **objects;
	size_t nr_objects;
};

void whatif_found_free(struct whatif_found *found);

#endif
