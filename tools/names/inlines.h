/* SPDX-License-Identifier: GPL-2.0 */
/* Copies of functions that the compiler put into others, told by DWARF. */
#ifndef TOOLS_INLINES_H
#define TOOLS_INLINES_H

#include <stdint.h>

#include "inlined.h"

/*
 * From the file at path or its debug file. 0, -ENODATA if there is no DWARF,
 * -EBADMSG if it is damaged, -ENOEXEC and the like.
 */
int inlines_load(const char *path, struct inlines *inlines);
void inlines_free(struct inlines *inlines);

/* Counts copies of the function at value; -1 if DWARF does not know it. */
int inlines_copies(const struct inlines *inlines, uint64_t value);

#endif
