// SPDX-License-Identifier: GPL-2.0
/*
 * A histogram of the times, as a density, with the densities of the fits. A long tail
 * would leave no room for the rest: the picture ends at a quantile.
 */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "measure/measure-output.h"
#include "report.h"

enum {
	WIDTH = 760, HEIGHT = 440, LEFT = 76, RIGHT = WIDTH - 20, TOP = 56,
	BOTTOM = HEIGHT - 54, BARS_LEAST = 10, BARS_MOST = 80, POINTS = 400,
	KEY = 110,		/* width of an entry of the key */
};

#define LAST	0.98		/* the quantile at which the picture ends */

struct histogram {
	const struct report *r;
	struct axis x;		/* seconds */
	struct axis y;		/* per second */
	double width;		/* of a bar, seconds */
	double bars[BARS_MOST];	/* densities */
	int count;
	size_t beyond;		/* times to the right of the picture */
};

static double quantile(const struct report *r, double p)
{
	return gsl_stats_quantile_from_sorted_data(r->sorted, 1, r->count, p);
}

/* By the rule of Freedman and Diaconis, within bounds. */
static int count_bars(const struct report *r, double span)
{
	double width = 2 * (quantile(r, 0.75) - quantile(r, 0.25)) /
		       cbrt((double)r->count);
	double bars = ceil(span / width);

	return (int)fmin(fmax(bars, BARS_LEAST), BARS_MOST);
}

static void fill_bars(struct histogram *h)
{
	const struct report *r = h->r;

	for (size_t i = 0; i < r->count; i++) {
		int bar = (int)((r->sorted[i] - h->x.low) / h->width);

		if (r->sorted[i] > h->x.high) {
			h->beyond++;
			continue;
		}
		/* The last time may lie on the right end. */
		if (bar == h->count)
			bar--;
		h->bars[bar] += 1 / ((double)r->count * h->width);
	}
}

static struct histogram make_histogram(const struct report *r)
{
	struct histogram h = {
		.r = r,
		.x = { .low = r->sorted[0], .high = quantile(r, LAST),
		       .from = LEFT, .to = RIGHT },
		.y = { .from = BOTTOM, .to = TOP },
	};

	h.count = count_bars(r, h.x.high - h.x.low);
	h.width = (h.x.high - h.x.low) / h.count;
	fill_bars(&h);
	for (int i = 0; i < h.count; i++)
		axis_include(&h.y, h.bars[i] * 1.1);
	return h;
}

static void draw_bars(FILE *f, const struct histogram *h)
{
	for (int i = 0; i < h->count; i++) {
		double left = axis_place(&h->x, h->x.low + i * h->width);
		double right = axis_place(&h->x, h->x.low + (i + 1) * h->width);
		double top = axis_place(&h->y, h->bars[i]);

		fprintf(f, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
			left, top, right - left, BOTTOM - top);
	}
}

/* Above the picture a curve runs along its edge. */
static void draw_curve(FILE *f, const struct histogram *h, int family)
{
	const struct dist *d = &h->r->fits[family].dist;

	if (!h->r->fits[family].converged)
		return;
	fprintf(f, "<polyline class=\"c%d\" points=\"", family);
	for (int i = 0; i <= POINTS; i++) {
		double at = h->x.low + (h->x.high - h->x.low) * i / POINTS;
		double density = exp(dist_log_likelihood(d, &at, 1));

		fprintf(f, "%.1f,%.1f ", axis_place(&h->x, at),
			axis_place(&h->y, fmin(density, h->y.high)));
	}
	fputs("\"/>\n", f);
}

static void draw_x_axis(FILE *f, const struct histogram *h)
{
	struct scale scale = scale_of(fmax(fabs(h->x.low), fabs(h->x.high)));
	struct axis x = axis_in_unit(&h->x, scale.factor);
	double value;

	axis_divide(&x, 8);
	for (unsigned int i = 0; axis_tick(&x, i, &value); i++) {
		double at = axis_place(&x, value);

		fprintf(f, "<path class=\"tick\" d=\"M%.1f %dv5\"/><text class=\"x\" x=\"%.1f\" y=\"%d\">%.*f</text>\n",
			at, BOTTOM, at, BOTTOM + 20, axis_digits(&x), value);
	}
	fprintf(f, "<text class=\"y\" x=\"%d\" y=\"%d\">%s, %s; %zu of %zu times are longer</text>\n",
		RIGHT, BOTTOM + 40, h->r->file && h->r->nominal == 0 ? "time" : "noise",
		scale.unit, h->beyond, h->r->count);
}

static void draw_y_axis(FILE *f, const struct histogram *h)
{
	double span = h->x.high - h->x.low;
	struct scale scale = scale_of(span);
	struct axis y = axis_in_unit(&h->y, 1 / scale.factor);
	double value;

	axis_divide(&y, 5);
	for (unsigned int i = 0; axis_tick(&y, i, &value); i++) {
		double at = axis_place(&y, value);

		fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"y\" x=\"%d\" y=\"%.1f\">%.*f</text>\n",
			LEFT, at, RIGHT, LEFT - 8, at + 4, axis_digits(&y),
			value);
	}
	fprintf(f, "<text x=\"%d\" y=\"%d\">density, per %s</text>\n", LEFT,
		TOP - 34, scale.unit);
}

static void draw_key(FILE *f, const struct histogram *h)
{
	int left = LEFT + KEY;

	for (int i = 0; i < NR_FAMILIES; i++) {
		if (!h->r->fits[i].converged)
			continue;
		left += KEY;
		fprintf(f, "<path class=\"c%d\" d=\"M%d %dh24\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
			i, left, TOP - 38, left + 30, TOP - 34, family_name(i));
	}
}

int report_histogram(FILE *f, const struct report *r)
{
	static const char style[] =
		SVG_TEXT ".x{text-anchor:middle}.y{text-anchor:end}.bar{fill:#d5dde5;stroke:#fff;stroke-width:.5}\n"
		".grid{stroke:#e8eaec}.tick{stroke:#666}.c0,.c1,.c2,.c3{fill:none;stroke-width:1.8}\n"
		".c0{stroke:#c0392b}.c1{stroke:#2a6f97}.c2{stroke:#3c8d40}.c3{stroke:#8e5ea2;stroke-dasharray:5 3}";
	struct histogram h = make_histogram(r);

	svg_begin(f, WIDTH, HEIGHT, style);
	draw_y_axis(f, &h);
	draw_bars(f, &h);
	for (int i = 0; i < NR_FAMILIES; i++)
		draw_curve(f, &h, i);
	draw_x_axis(f, &h);
	draw_key(f, &h);
	svg_end(f);
	return ferror(f) ? -1 : 0;
}
