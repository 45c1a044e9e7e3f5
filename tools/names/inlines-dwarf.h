/* SPDX-License-Identifier: GPL-2.0 */
/* The part of inlines.h that reads DWARF, in a process of its own. */
#ifndef TOOLS_INLINES_DWARF_H
#define TOOLS_INLINES_DWARF_H

#include "inlined.h"

/* As inlines_load(), but a damaged file may crash the process. */
int inlines_parse(const char *path, struct inlines *inlines);

#endif
