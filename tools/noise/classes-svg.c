// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "classes.h"
#include "qq.h"

enum {
	COLUMNS = 3,
	WIDTH = 700, HEIGHT = 460, LEFT = 80, RIGHT = WIDTH - 24, TOP = 48,
	BOTTOM = HEIGHT - 56,
};

static char *class_text(const struct cell *cell)
{
	return xprintf("%u per core, %.4g us", cell->per_core,
		       cell->length * 1e6);
}

static char *title_of(const struct cell *cell, const struct report *r)
{
	char *class = class_text(cell), *title;
	const struct fit *fit = &r->fits[LEVY];

	if (isnan(r->p_values[LEVY]))
		title = xprintf("%s: A-D %.3g", class, fit->anderson_darling);
	else
		title = xprintf("%s: A-D %.3g, p %.2g", class,
				fit->anderson_darling, r->p_values[LEVY]);
	free(class);
	return title;
}

int classes_svg(FILE *f, const struct classes *c)
{
	int rows = ((int)c->count + COLUMNS - 1) / COLUMNS;

	svg_begin(f, qq_width(COLUMNS), qq_height(rows), QQ_STYLE);
	for (size_t i = 0; i < c->count; i++) {
		const struct report *r = &c->reports[i];
		char *title = title_of(&c->cells[i], r);
		struct qq qq = { .sorted = r->sorted, .count = r->count,
				 .fit = &r->fits[LEVY], .title = title };

		qq_panel(f, &qq, (int)i, COLUMNS);
		free(title);
	}
	svg_end(f);
	return ferror(f) ? -1 : 0;
}

/* By how much waits are wrong that M/M/1 predicts, as a part of the true ones. */
static double error_of(const struct report *r)
{
	return 1 / r->waits - 1;
}

static bool has_point(const struct report *r)
{
	return r->divergence > 0 && isfinite(error_of(r));
}

struct plane {
	struct axis nats;	/* decimal logarithms */
	struct axis error;	/* percent */
};

static struct plane plane_of(const struct classes *c)
{
	struct plane p = {
		.nats = { .low = INFINITY, .high = -INFINITY,
			  .from = LEFT, .to = RIGHT },
		.error = { .from = BOTTOM, .to = TOP },
	};

	for (size_t i = 0; i < c->count; i++) {
		const struct report *r = &c->reports[i];

		if (!has_point(r))
			continue;
		axis_include(&p.nats, log10(r->divergence));
		axis_include(&p.error, error_of(r) * 100);
	}
	if (!(p.nats.low <= p.nats.high))
		p.nats.low = p.nats.high = 0;
	if (p.error.low == p.error.high)
		p.error.high = 1;
	axis_round(&p.error, 8);
	/* Whole powers of ten, at least one apart. */
	p.nats.low = floor(p.nats.low);
	p.nats.high = fmax(ceil(p.nats.high), p.nats.low + 1);
	axis_divide(&p.nats, 8);
	p.nats.step = fmax(p.nats.step, 1);
	return p;
}

static void draw_axes(FILE *f, const struct plane *p)
{
	double value;

	for (unsigned int i = 0; axis_tick(&p->nats, i, &value); i++) {
		double at = axis_place(&p->nats, value);

		fprintf(f, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"x\" x=\"%.1f\" y=\"%d\">%g</text>\n",
			at, TOP, BOTTOM, at, BOTTOM + 20, pow(10, value));
	}
	for (unsigned int i = 0; axis_tick(&p->error, i, &value); i++) {
		double at = axis_place(&p->error, value);

		fprintf(f, "<path class=\"%s\" d=\"M%d %.1fH%d\"/><text class=\"y\" x=\"%d\" y=\"%.1f\">%s%.*f %%</text>\n",
			value == 0 ? "zero" : "grid", LEFT, at, RIGHT, LEFT - 8,
			at + 4, value > 0 ? "+" : "", axis_digits(&p->error),
			value);
	}
	fprintf(f, "<text x=\"%d\" y=\"%d\">error of the mean waits that M/M/1 predicts</text>\n",
		LEFT, TOP - 20);
	fprintf(f, "<text class=\"y\" x=\"%d\" y=\"%d\">divergence from exponential service, nats</text>\n",
		RIGHT, BOTTOM + 42);
}

static void draw_point(FILE *f, const struct plane *p, const struct cell *cell,
		       const struct report *r)
{
	double x = axis_place(&p->nats, log10(r->divergence));
	double y = axis_place(&p->error, error_of(r) * 100);
	char *class = class_text(cell);
	bool right = x > (LEFT + RIGHT) / 2.0;

	fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s</title></circle>\n",
		x, y, class);
	/* To the side where there is room. */
	fprintf(f, "<text class=\"label%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
		right ? " y" : "", right ? x - 7 : x + 7, y - 5, class);
	free(class);
}

int classes_queue_svg(FILE *f, const struct classes *c)
{
	static const char style[] =
		SVG_TEXT ".x{text-anchor:middle}.y{text-anchor:end}.grid{stroke:#e8eaec}.zero{stroke:#666}\n"
		"circle{fill:#2a6f97}.label{font-size:9px}";
	struct plane p = plane_of(c);

	svg_begin(f, WIDTH, HEIGHT, style);
	draw_axes(f, &p);
	for (size_t i = 0; i < c->count; i++)
		if (has_point(&c->reports[i]))
			draw_point(f, &p, &c->cells[i], &c->reports[i]);
	svg_end(f);
	return ferror(f) ? -1 : 0;
}
