/* SPDX-License-Identifier: GPL-2.0 */
/* The contents of the panels with lines. */
#ifndef TOOLS_TRACE_SVG_LINES_H
#define TOOLS_TRACE_SVG_LINES_H

#include "svg-picture.h"

void svg_draw_window(const struct picture *p);
void svg_draw_lines(const struct picture *p);
void svg_draw_leads(const struct picture *p);

#endif
