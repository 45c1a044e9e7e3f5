/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers that pictures and pages share. */
#ifndef TOOLS_DRAWING_H
#define TOOLS_DRAWING_H

#include <stdio.h>

/*
 * Escapes text for XML and HTML. Replaces invalid UTF-8 by U+FFFD and leaves
 * out characters that no document may hold.
 */
void xml_text(FILE *f, const char *text);

/* Between the lines of a grid, at most so many: 1, 2 or 5 times a power of ten. */
double nice_step(double span, int most);

#endif
