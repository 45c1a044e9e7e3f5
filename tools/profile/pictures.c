// SPDX-License-Identifier: GPL-2.0
/* The ranking as bars with intervals, and a small curve for each finalist. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "output.h"
#include "words.h"

enum {
	WIDTH = 800, NAMES = 250, RIGHT = 24, ROW = 26, TOP = 8, BOTTOM = 48,
	NAME_CHARS = 34,
	SMALL_WIDTH = 256, SMALL_HEIGHT = 190, SMALL_LEFT = 40, SMALL_RIGHT = 12,
	SMALL_TOP = 12, SMALL_BOTTOM = 40,
};

static bool has_gain(const struct profile_row *row)
{
	return isfinite(row->gain[PROFILE_HALF].value);
}

static size_t count_gains(const struct profile *p)
{
	size_t n = 0;

	while (n < p->answer.nr_rows && has_gain(&p->answer.rows[n]))
		n++;
	return n;
}

/* The interval of a row that ran once may be far wider than all gains. */
static struct axis gain_axis(const struct profile *p, size_t n)
{
	struct axis a = { 0 };
	double most = 1;

	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		most = fmax(most, fabs(profile_shown_gain(row, PROFILE_HALF)->value));
		most = fmax(most, fmin(50 * row->share, 100));
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		const struct interval *g = profile_shown_gain(row, PROFILE_HALF);

		axis_include(&a, fmin(50 * row->share, most));
		if (!isfinite(g->value))
			continue;
		axis_include(&a, g->value);
		axis_include(&a, fmax(g->low, -most / 2));
		axis_include(&a, fmin(g->high, 1.5 * most));
	}
	axis_finish(&a, 8, NAMES, WIDTH - RIGHT);
	return a;
}

static double place(const struct axis *a, double value)
{
	return axis_place(a, fmin(fmax(value, a->low), a->high));
}

static void short_name(FILE *f, const char *name)
{
	char *text = strlen(name) > NAME_CHARS ?
		     xprintf("%.*s...", NAME_CHARS - 3, name) : xstrdup(name);

	xml_text(f, text);
	free(text);
}

static void grid(FILE *f, const struct axis *a, int bottom)
{
	double v;

	fputs("<g class=\"grid\">\n", f);
	for (unsigned int i = 0; axis_tick(a, i, &v); i++) {
		double x = axis_place(a, v);

		fprintf(f, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"%s/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
			x, x, TOP, bottom, v == 0 ? " class=\"zero\"" : "", x,
			bottom + 18, v);
	}
	fputs("</g>\n", f);
}

static void bar(FILE *f, const struct profile *p, const struct axis *a,
		size_t index)
{
	const struct profile_row *row = &p->answer.rows[index];
	const struct interval *g = profile_shown_gain(row, PROFILE_HALF);
	double y = TOP + ROW * (index + 0.5), zero = place(a, 0);
	double value = place(a, g->value), share = place(a, 50 * row->share);
	const char *name = p->candidates[row->candidate].name;

	fprintf(f, "<g class=\"s%d\"><title>", g->low > 0 ? 0 : 5);
	xml_text(f, name);
	if (isfinite(g->value))
		fprintf(f, ": %+.2f %% [%+.2f %+.2f]", g->value, g->low, g->high);
	fprintf(f, ", %s</title><text class=\"axis\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
		profile_why_text(p, row), NAMES - 12, y + 4);
	short_name(f, name);
	fputs("</text>", f);
	if (isfinite(g->value))
		fprintf(f, "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>",
			fmin(zero, value), y - 7, fabs(value - zero));
	if (isfinite(share))
		fprintf(f, "<line class=\"share\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
			share, share, y - 10, y + 10);
	if (isfinite(g->low))
		fprintf(f, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8\"/>",
			place(a, g->low), y, place(a, g->high),
			place(a, g->low), y - 4, place(a, g->high), y - 4);
	fputs("</g>\n", f);
}

void profile_bars(FILE *f, const struct profile *p)
{
	size_t n = count_gains(p);
	int bottom = TOP + ROW * (int)n;
	struct axis a = gain_axis(p, n);

	fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Functions by what the program gains\">\n",
		WIDTH, bottom + BOTTOM);
	grid(f, &a, bottom);
	for (size_t i = 0; i < n; i++)
		bar(f, p, &a, i);
	fprintf(f, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">what the program gains if the function takes half its time, %%</text>\n</svg>\n",
		(NAMES + WIDTH - RIGHT) / 2, bottom + 40);
}

struct small {
	struct axis x, y;
};

static void small_grid(FILE *f, const struct small *s)
{
	double v;

	fputs("<g class=\"grid\">\n", f);
	for (unsigned int i = 0; axis_tick(&s->y, i, &v); i++) {
		double y = axis_place(&s->y, v);

		fprintf(f, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"%s/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			SMALL_LEFT, SMALL_WIDTH - SMALL_RIGHT, y, y,
			v == 0 ? " class=\"zero\"" : "", SMALL_LEFT - 6, y + 4,
			v);
	}
	for (unsigned int i = 0; axis_tick(&s->x, i, &v); i++)
		fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
			axis_place(&s->x, v),
			SMALL_HEIGHT - SMALL_BOTTOM + 16, v);
	fputs("</g>\n", f);
}

static void small_curve(FILE *f, const struct small *s,
			const struct profile_row *row)
{
	/* From nothing to all of its time. */
	static const enum profile_cut order[] = {
		PROFILE_TENTH, PROFILE_HALF, PROFILE_FREE,
	};

	fprintf(f, "<line class=\"amdahl\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
		axis_place(&s->x, 0), axis_place(&s->y, 0),
		axis_place(&s->x, 100), axis_place(&s->y, 100 * row->share));
	fprintf(f, "<polyline class=\"curve s0\" points=\"%.1f,%.1f",
		axis_place(&s->x, 0), axis_place(&s->y, 0));
	for (int i = 0; i < PROFILE_CUTS; i++)
		if (isfinite(row->gain[order[i]].value))
			fprintf(f, " %.1f,%.1f",
				axis_place(&s->x, 100 * profile_cuts[order[i]]),
				axis_place(&s->y, row->gain[order[i]].value));
	fputs("\"/>\n", f);
	for (int i = 0; i < PROFILE_CUTS; i++) {
		const struct interval *g = &row->gain[order[i]];
		double x = axis_place(&s->x, 100 * profile_cuts[order[i]]);

		if (!isfinite(g->low))
			continue;
		fprintf(f, "<g class=\"mark s0\"><title>%s: %+.2f %% [%+.2f %+.2f]</title><path d=\"M%.1f %.1fV%.1f\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n",
			profile_cut_name(order[i]), g->value, g->low, g->high,
			x, place(&s->y, g->low), place(&s->y, g->high), x,
			place(&s->y, g->value));
	}
}

static bool is_drawn(const struct profile_row *row)
{
	return isfinite(row->gain[PROFILE_FREE].value) ||
	       isfinite(row->gain[PROFILE_TENTH].value);
}

/* No gain is more than 100 %. A wider interval would hide the curves. */
static void include_gain(struct axis *a, const struct interval *g)
{
	if (isfinite(g->value))
		axis_include(a, g->value);
	if (isfinite(g->low)) {
		axis_include(a, fmax(g->low, -50));
		axis_include(a, fmin(g->high, 100));
	}
}

/* All curves have the same axes, so that they can be compared. */
static struct small small_axes(const struct profile *p)
{
	struct small s = { .x = { .high = 100 } };

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (!is_drawn(row))
			continue;
		axis_include(&s.y, 100 * row->share);
		for (int c = 0; c < PROFILE_CUTS; c++)
			include_gain(&s.y, &row->gain[c]);
	}
	axis_finish(&s.x, 4, SMALL_LEFT, SMALL_WIDTH - SMALL_RIGHT);
	axis_finish(&s.y, 5, SMALL_HEIGHT - SMALL_BOTTOM, SMALL_TOP);
	return s;
}

void profile_curves(FILE *f, const struct profile *p)
{
	struct small s = small_axes(p);

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (!is_drawn(row))
			continue;
		fputs("<figure class=\"card small\"><p><code>", f);
		xml_text(f, p->candidates[row->candidate].name);
		fprintf(f, "</code></p>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Curve\">\n",
			SMALL_WIDTH, SMALL_HEIGHT);
		small_grid(f, &s);
		small_curve(f, &s, row);
		fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time that it takes less, %%</text>\n</svg></figure>\n",
			(SMALL_LEFT + SMALL_WIDTH - SMALL_RIGHT) / 2,
			SMALL_HEIGHT - 4);
	}
}
