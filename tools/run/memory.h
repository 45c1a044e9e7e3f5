/* SPDX-License-Identifier: GPL-2.0 */
/* The memory of a guest, and sizes that users write. */
#ifndef TOOLS_MEMORY_H
#define TOOLS_MEMORY_H

#include "backend.h"

/*
 * Parses MiB, perhaps with M or G behind the number, from least to most. Ends the
 * program on a wrong value; name is what the message calls it.
 */
unsigned long long memory_parse_size(const char *name, const char *text,
				     unsigned long long least,
				     unsigned long long most);

/* Parses --memory; ends the program on a wrong value. */
void memory_set(struct run *run, const char *text);

/* Returns the MiB of memory that this machine has, or 0 if that is not known. */
unsigned long long memory_machine_mib(void);

/* The memory that the user asked for, by option or environment. */
unsigned long long memory_choose_mib(const struct run *run,
				     unsigned long long otherwise);

#endif
