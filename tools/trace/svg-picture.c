// SPDX-License-Identifier: GPL-2.0
#include "svg-picture.h"

#include <math.h>

double svg_x(const struct picture *p, double real)
{
	return axis_place(&p->real, real);
}

double svg_y(const struct picture *p, double virtual)
{
	return axis_place(&p->virtual, virtual);
}

double svg_lead_y(const struct picture *p, double ns)
{
	return axis_place(&p->lead, fmin(ns, p->lead.high));
}

void svg_colour(const struct picture *p, char what, int lane)
{
	fprintf(p->f, "%c%d", what, lane);
}

int svg_samples(const struct picture *p)
{
	return (p->right - SVG_LEFT) * SVG_FINE + 1;
}

double svg_sample_time(const struct picture *p, int i)
{
	return (double)p->m->end * i / (svg_samples(p) - 1);
}
