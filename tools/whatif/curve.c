// SPDX-License-Identifier: GPL-2.0
/*
 * The curve of a report: what the program gains over what its function gains,
 * for each set of functions that was varied.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "output.h"
#include "words.h"

enum {
	WIDTH = 800, HEIGHT = 440, HEIGHT_BESIDE = 260,
	LEFT = 66, RIGHT = 24, TOP = 20, BOTTOM = 60,
	SERIES_MAX = 6,
};

struct plot {
	const struct whatif *w;
	/* Subtract the gain that the function's share alone promises. */
	bool beside;
	int height;
	struct axis x;
	struct axis y;
};

/* The height of a result's change in the plot. */
static double height_of(const struct plot *p, const struct whatif_result *r,
			double change)
{
	const struct whatif_question *q = &p->w->question;

	return whatif_gain(q, change) -
	       (p->beside ? whatif_gain(q, r->amdahl) : 0);
}

static double px(const struct plot *p, double x)
{
	return axis_place(&p->x, x);
}

static double py(const struct plot *p, double y)
{
	return axis_place(&p->y, y);
}

/* The slots that a condition varies, as bits. */
static unsigned int slots_of(const struct whatif_plan *plan, size_t condition)
{
	unsigned int mask = 0;

	for (unsigned int i = 1; i < WHATIF_SLOTS; i++)
		if (whatif_varied(plan, condition, i))
			mask |= 1U << i;
	return mask;
}

/* The number of the set of functions, in order of appearance. */
static unsigned int series_of(const struct whatif_plan *plan, size_t condition)
{
	unsigned int n = 0;

	for (size_t c = CONDITIONS_FIRST; c < condition; c++) {
		bool first = true;

		if (slots_of(plan, c) == slots_of(plan, condition))
			return series_of(plan, c);
		for (size_t b = CONDITIONS_FIRST; b < c; b++)
			first = first && slots_of(plan, b) != slots_of(plan, c);
		n += first;
	}
	return n;
}

/* Where a straight program would be: nothing overlaps, nobody waits. */
static double amdahl(const struct whatif_question *q, double share, double cut)
{
	double rest = 1 - share * cut;

	if (whatif_less(q))
		return 100 * share * cut;
	return 100 * (1 / (rest > 0.001 ? rest : 0.001) - 1);
}

static struct plot plot_of(const struct whatif *w, bool beside)
{
	struct plot p = {
		.w = w, .beside = beside,
		.height = beside ? HEIGHT_BESIDE : HEIGHT,
	};

	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
		const struct whatif_result *r = whatif_result(&w->answer, c);

		axis_include(&p.x, 100 * r->cut);
		axis_include(&p.y, height_of(&p, r, r->change.low));
		axis_include(&p.y, height_of(&p, r, r->change.high));
		axis_include(&p.y, height_of(&p, r, r->amdahl));
		for (size_t i = 0; i < whatif_rounds(&w->samples); i++)
			axis_include(&p.y, height_of(&p, r, r->rounds[i]));
	}
	/* Room for the rounds of the last. */
	axis_finish(&p.x, 12, LEFT, LEFT + (WIDTH - LEFT - RIGHT) / 1.04);
	axis_finish(&p.y, beside ? 6 : 10, p.height - BOTTOM, TOP);
	return p;
}

static void grid(FILE *f, const struct plot *p)
{
	double v;

	fputs("<g class=\"grid\">\n", f);
	for (unsigned int i = 0; axis_tick(&p->y, i, &v); i++) {
		double y = py(p, v);

		fprintf(f, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"%s/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			LEFT, WIDTH - RIGHT, y, y,
			v == 0 ? " class=\"zero\"" : "", LEFT - 10, y + 4, v);
	}
	for (unsigned int i = 0; axis_tick(&p->x, i, &v); i++) {
		double x = px(p, v);

		fprintf(f, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" class=\"tick\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
			x, x, p->height - BOTTOM, p->height - BOTTOM + 5, x,
			p->height - BOTTOM + 21, v);
	}
	fputs("</g>\n", f);
}

static void titles(FILE *f, const struct plot *p)
{
	fprintf(f, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">time that the function takes less, %%</text>\n",
		(LEFT + WIDTH - RIGHT) / 2, p->height - 12);
	fprintf(f, "<text class=\"axis\" transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
		(TOP + p->height - BOTTOM) / 2,
		p->beside ? "more than by share, points" :
			    whatif_gain_title(&p->w->question));
}

/* From nothing to the last of a series, on either side. */
static void amdahl_line(FILE *f, const struct plot *p, double share,
			double from, double to, unsigned int series)
{
	const struct whatif_question *q = &p->w->question;

	fprintf(f, "<polyline class=\"amdahl s%u\" points=\"", series);
	for (int i = 0; i <= 40; i++) {
		double cut = from + (to - from) * i / 40;

		fprintf(f, "%.1f,%.1f ", px(p, 100 * cut),
			py(p, amdahl(q, share, cut)));
	}
	fputs("\"/>\n", f);
	/* Beside its upper end, where the lines are furthest apart. */
	fprintf(f, "<text class=\"amdahl-name s%u\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">Amdahl</text>\n",
		series, px(p, 100 * (from + (to - from) * 0.88)) - 12,
		py(p, amdahl(q, share, from + (to - from) * 0.88)) - 10);
}

struct point {
	double cut;
	size_t condition;	/* 0: nothing varied */
};

static int by_cut(const void *a, const void *b)
{
	double ca = ((const struct point *)a)->cut;
	double cb = ((const struct point *)b)->cut;

	return (ca > cb) - (ca < cb);
}

/* The points of one series. It begins with the null experiment. */
static size_t points_of(const struct whatif_plan *plan,
			const struct whatif_answer *answer, unsigned int series,
			struct point *points)
{
	size_t n = 0;

	points[n++] = (struct point){ 0, 0 };
	for (size_t c = CONDITIONS_FIRST; c < plan->nr_conditions; c++)
		if (series_of(plan, c) == series)
			points[n++] = (struct point){
				.cut = whatif_result(answer, c)->cut,
				.condition = c,
			};
	qsort(points, n, sizeof(*points), by_cut);
	return n;
}

static double bound(const struct plot *plot, const struct point *p, int side)
{
	const struct whatif_result *r;

	if (!p->condition)
		return 0;
	r = whatif_result(&plot->w->answer, p->condition);
	return height_of(plot, r, side < 0 ? r->change.low :
			 side > 0 ? r->change.high : r->change.value);
}

static void curve(FILE *f, const struct plot *p, const struct point *points,
		  size_t n, unsigned int series)
{
	fprintf(f, "<polygon class=\"band s%u\" points=\"", series);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%.1f,%.1f ", px(p, 100 * points[i].cut),
			py(p, bound(p, &points[i], -1)));
	for (size_t i = n; i-- > 0;)
		fprintf(f, "%.1f,%.1f ", px(p, 100 * points[i].cut),
			py(p, bound(p, &points[i], 1)));
	fprintf(f, "\"/>\n<polyline class=\"curve s%u\" points=\"", series);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%.1f,%.1f ", px(p, 100 * points[i].cut),
			py(p, bound(p, &points[i], 0)));
	fputs("\"/>\n", f);
}

/* Beside the interval, in the order in which they were run. */
static void rounds(FILE *f, const struct plot *p,
		   const struct whatif_result *r, const double *changes, double x, const char *class, unsigned int series)
{
	size_t n = whatif_rounds(&p->w->samples);

	for (size_t i = 0; i < n; i++) {
		double y = height_of(p, r, changes[i]);

		/* An outlier by the machine must not squeeze the rest. */
		if (y < p->y.low || y > p->y.high)
			continue;
		fprintf(f, "<circle class=\"%s s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>\n",
			class, series, x + 8 + (n > 1 ? 14.0 * i / (n - 1) : 0),
			py(p, y));
	}
}

static void mark(FILE *f, const struct plot *p, size_t condition,
		 unsigned int series)
{
	const struct whatif *w = p->w;
	const struct whatif_result *r = whatif_result(&w->answer, condition);
	double x = px(p, 100 * r->cut), y = py(p, height_of(p, r, r->change.value));
	double low = py(p, height_of(p, r, r->change.low));
	double high = py(p, height_of(p, r, r->change.high));
	char *sentence = whatif_sentence(w, condition);

	if (!p->beside)
		rounds(f, p, r, r->plain_rounds, x - 30, "raw plain", series);
	rounds(f, p, r, r->rounds, x, "raw", series);
	fprintf(f, "<g class=\"mark s%u %s\"><title>", series,
		r->verdict == VERDICT_PREDICTION ? "sure" : "unsure");
	xml_text(f, sentence);
	fprintf(f, "</title><path d=\"M%.1f %.1fV%.1fM%.1f %.1fh10M%.1f %.1fh10\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/></g>\n",
		x, low, high, x - 5, low, x - 5, high, x, y);
	free(sentence);
}

static void draw_series(FILE *f, const struct plot *p, unsigned int series,
			struct point *points)
{
	size_t n = points_of(&p->w->plan, &p->w->answer, series, points);
	double share = 0;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		if (points[i].condition)
			share = whatif_result(&p->w->answer,
					      points[i].condition)->share;
	series %= SERIES_MAX;
	curve(f, p, points, n, series);
	/* On top, as the two may be the same. */
	if (!p->beside)
		amdahl_line(f, p, share, points[0].cut,
			    points[n - 1].cut, series);
	for (size_t i = 0; i < n; i++)
		if (points[i].condition)
			mark(f, p, points[i].condition, series);
}

void whatif_curve(FILE *f, const struct whatif *w, bool beside)
{
	struct point *points = xmalloc(w->plan.nr_conditions * sizeof(*points));
	struct plot p = plot_of(w, beside);

	fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
		WIDTH, p.height, beside ?
		"The same, less what the share alone promises" :
		"What the program gains over what the function gains");
	grid(f, &p);
	titles(f, &p);
	for (unsigned int s = 0; s < w->plan.nr_conditions; s++)
		draw_series(f, &p, s, points);
	fputs("</svg>\n", f);
	free(points);
}
