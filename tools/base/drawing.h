/* SPDX-License-Identifier: GPL-2.0 */
/* What pictures and pages have in common. */
#ifndef TOOLS_DRAWING_H
#define TOOLS_DRAWING_H

#include <stdio.h>

/*
 * Text as XML and HTML take it. What is not UTF-8 becomes U+FFFD, what no
 * document may hold is left out.
 */
void xml_text(FILE *f, const char *text);

/* Between the lines of a grid, at most so many: 1, 2 or 5 times a power of ten. */
double nice_step(double span, int most);

#endif
