/* SPDX-License-Identifier: GPL-2.0 */
/* The panel with a lane for each thread. */
#ifndef TOOLS_TRACE_SVG_LANES_H
#define TOOLS_TRACE_SVG_LANES_H

#include "svg-picture.h"

void svg_draw_states(const struct picture *p);

/* The part of each sample, 0 to 1, that the lane's pieces of a kind take. */
void svg_cover(const struct picture *p, const struct lane *lane,
	       enum piece_kind kind, float *part);

#endif
