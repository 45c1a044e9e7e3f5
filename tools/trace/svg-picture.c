// SPDX-License-Identifier: GPL-2.0
#include "svg-picture.h"

double svg_x(const struct picture *p, double real)
{
	return SVG_LEFT + real / p->m->end * (p->right - SVG_LEFT);
}

double svg_y(const struct picture *p, double virtual)
{
	return p->lines + SVG_PLOT * (1 - virtual / p->top_ns);
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
