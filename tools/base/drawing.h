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

/* Text of the pictures that --svg draws, for the style of svg_begin(). */
#define SVG_TEXT \
	"text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;" \
	"font-size:12px;fill:#686c74}"

/* A picture in a file of its own, on white. style is CSS. */
void svg_begin(FILE *f, int width, int height, const char *style);
void svg_end(FILE *f);

/* Between the lines of a grid, at most so many: 1, 2 or 5 times a power of ten. */
double nice_step(double span, int most);

#endif
