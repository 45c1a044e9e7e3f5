// SPDX-License-Identifier: GPL-2.0
/* The panel with a lane for each thread: when it ran, waited or was gated. */
#include "svg-lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Shades of a sample that is only partly taken. */
#define LEVELS	6

void svg_cover(const struct picture *p, const struct lane *lane,
	       enum piece_kind kind, float *part)
{
	int n = svg_samples(p);
	double step = svg_sample_time(p, 1);

	memset(part, 0, n * sizeof(*part));
	for (size_t i = 0; i < lane->nr_pieces; i++) {
		double from = lane->pieces[i].begin / step;
		double to = lane->pieces[i].end / step;

		if (lane->pieces[i].kind != kind)
			continue;
		for (int s = from; s < n && s < to; s++)
			part[s] += fmin(to, s + 1) - fmax(from, s);
	}
}

static int level_of(float part)
{
	int level = lroundf(part * LEVELS);

	/* Keep small parts visible. */
	return level ? level : part > 0.01f;
}

static double sample_x(int i)
{
	return SVG_LEFT + (double)i / SVG_FINE;
}

/* A bar of a lane, from one sample to another. */
static void bar(const struct picture *p, int from, int to, int top, int height)
{
	double x = sample_x(from);

	fprintf(p->f, "M%.2f %dH%.2fv%dH%.2fz", x, top, sample_x(to), height, x);
}

static void draw_level(const struct picture *p, const float *part, int level,
		       int top, int height)
{
	int n = svg_samples(p) - 1;

	for (int i = 0; i < n; i++) {
		int from = i;

		while (i < n && level_of(part[i]) == level)
			i++;
		if (i > from)
			bar(p, from, i, top, height);
	}
}

static bool has_level(const struct picture *p, const float *part, int level)
{
	for (int i = 0; i < svg_samples(p) - 1; i++)
		if (level_of(part[i]) == level)
			return true;
	return false;
}

static void draw_state(const struct picture *p, int lane, enum piece_kind kind,
		       float *part)
{
	static const char *const classes[PIECE_KINDS] = {
		[PIECE_RUN] = "run", [PIECE_READY] = "ready",
		[PIECE_GATED] = "gated",
	};
	int height = kind == PIECE_READY ? SVG_LANE / 3 : SVG_LANE;
	int top = p->states + lane * SVG_LANE_STEP + (SVG_LANE - height) / 2;

	svg_cover(p, p->lanes[lane], kind, part);
	for (int level = 1; level <= LEVELS; level++) {
		if (!has_level(p, part, level))
			continue;
		fprintf(p->f, "<path class=\"%s", classes[kind]);
		if (kind != PIECE_GATED) {
			fputc(' ', p->f);
			svg_colour(p, 'f', lane);
		}
		fprintf(p->f, "\" fill-opacity=\"%.2f\" d=\"",
			(double)level / LEVELS);
		draw_level(p, part, level, top, height);
		fputs("\"/>\n", p->f);
	}
}

void svg_draw_states(const struct picture *p)
{
	float *part = xmalloc(svg_samples(p) * sizeof(*part));

	for (int i = 0; i < p->nr_lanes; i++) {
		const struct lane *l = p->lanes[i];
		double y = p->states + i * SVG_LANE_STEP + SVG_LANE / 2.0;

		fprintf(p->f, "<path class=\"life\" d=\"M%.2f %.1fH%.2f\"/>\n",
			svg_x(p, l->born), y, svg_x(p, l->died));
		draw_state(p, i, PIECE_READY, part);
		draw_state(p, i, PIECE_RUN, part);
		draw_state(p, i, PIECE_GATED, part);
	}
	free(part);
}
