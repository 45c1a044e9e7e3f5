/* SPDX-License-Identifier: GPL-2.0 */
/* The layout of the picture of a recorded run: panels over one axis of real time. */
#ifndef TOOLS_TRACE_SVG_PICTURE_H
#define TOOLS_TRACE_SVG_PICTURE_H

#include "base/axis.h"
#include "output.h"

enum {
	SVG_WIDTH = 1120,
	SVG_LEFT = 116,
	SVG_PLOT = 400,		/* height of the panel of lines */
	SVG_LANE = 12,		/* height of a thread's lane */
	SVG_LANE_STEP = 19,
	SVG_LEADS = 96,		/* height of the panel of leads */
	SVG_GAP = 34,		/* between panels */
	SVG_LANES = 20,		/* threads that are drawn at most: colours */
	/* Samples along the axis, for each unit of the picture. */
	SVG_FINE = 4,
};

struct picture {
	FILE *f;
	const struct model *m;
	const struct trace_about *about;
	const struct lane *lanes[SVG_LANES];	/* as they were born */
	int nr_lanes;
	int right;		/* where the panels end */
	int lines;		/* tops of the panels */
	int states;
	int leads;		/* 0: there is none */
	int bottom;
	struct axis real;	/* ns, of all panels */
	struct axis virtual;	/* ns, of the lines */
	struct axis lead;	/* virtual ns, of the leads */
};

/* The place of a real or virtual time in the picture. */
double svg_x(const struct picture *p, double real);
double svg_y(const struct picture *p, double virtual);
/* A lead that is too high for its panel is at its top. */
double svg_lead_y(const struct picture *p, double ns);

/* Writes class names for a lane's colour: 's' of a stroke, 'f' to fill. */
void svg_colour(const struct picture *p, char what, int lane);

/* How many samples there are, and the real time of each. */
int svg_samples(const struct picture *p);
double svg_sample_time(const struct picture *p, int i);

#endif
