// SPDX-License-Identifier: GPL-2.0
/* Draws the errors of clocks over the timed length, one panel for each load. */
#include <math.h>
#include <stdlib.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "output.h"
#include "picture.h"

enum {
	TOP = 76,
	HEAD = 36,
	PLOT = 240,
	AXIS = 48,
	INTERVALS = 4,		/* of the grid, from -100 % to 100 % */
};

/* Marks of several clocks lie beside each other. */
#define APART	7.0

struct panel {
	FILE *f;
	const struct interval_errors *e;
	unsigned int load;
	double top;
	struct axis length;	/* logarithms of ns */
	struct axis error;
};

static struct axis length_axis(const struct interval_errors *e)
{
	struct axis a = {
		.low = log(e->rows[0].expected_ns),
		.high = log(e->rows[e->nr_rows - 1].expected_ns),
		.from = PICTURE_LEFT + 40, .to = PICTURE_RIGHT - 40,
	};

	/* A single length is in the middle. */
	if (a.high <= a.low) {
		a.low--;
		a.high = a.low + 2;
	}
	return a;
}

static double x_of(const struct panel *p, double ns)
{
	return axis_place(&p->length, log(ns));
}

static double y_of(const struct panel *p, double error)
{
	return axis_place(&p->error, error);
}

/* An error beyond the panel becomes a triangle at the panel's edge. */
static void draw_mark(const struct panel *p, double x, double error, int colour)
{
	double y = y_of(p, fmax(fmin(error, 1), -1));

	if (fabs(error) <= 1)
		fprintf(p->f, "<circle class=\"f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" opacity=\".8\"/>\n",
			colour, x, y);
	else
		fprintf(p->f, "<path class=\"f%d\" d=\"M%.1f %.1fl-4 %dh8z\"/>\n",
			colour, x, y, error > 0 ? 7 : -7);
}

static void draw_grid(const struct panel *p)
{
	double bottom = p->top + PLOT, error;

	for (unsigned int i = 0; axis_tick(&p->error, i, &error); i++) {
		double y = y_of(p, error);

		fprintf(p->f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n",
			PICTURE_LEFT, y, PICTURE_RIGHT);
		picture_text(p->f, PICTURE_LEFT - 10, y + 4, "end", "%+.0f %%",
			     error * 100);
	}
	for (size_t i = 0; i < p->e->nr_rows; i++)
		if (p->e->rows[i].load == p->load)
			picture_text(p->f, x_of(p, p->e->rows[i].expected_ns),
				     bottom + 18, "middle", "%g",
				     p->e->rows[i].expected_ns / 1e6);
	picture_text(p->f, PICTURE_RIGHT, bottom + 34, "end",
		     "time that it had the CPU, ms");
}

static void draw_panel(const struct panel *p)
{
	char *load = load_text(p->load);

	picture_text(p->f, PICTURE_LEFT, p->top - 14, "head",
		     "relative error, %s", load);
	free(load);
	draw_grid(p);
	for (size_t i = 0; i < p->e->samples.count; i++) {
		const struct error_sample *s = &p->e->samples.list[i];

		for (int j = 0; s->load == p->load && j < NR_TIMED_BY; j++)
			draw_mark(p, x_of(p, s->expected_ns) +
				     (j - (NR_TIMED_BY - 1) / 2.0) * APART,
				  s->measured_ns[j] / s->expected_ns - 1, j);
	}
}

/* A load's rows lie together. */
static bool begins_load(const struct interval_errors *e, size_t row)
{
	return !row || e->rows[row].load != e->rows[row - 1].load;
}

int errors_svg(FILE *f, const struct interval_errors *e)
{
	char *title = xprintf("Error of clocks for computations of known length on CPU %d",
			      e->watcher.cpu);
	double x = PICTURE_LEFT;
	struct panel p = { .f = f, .e = e, .top = TOP + HEAD,
			   .length = length_axis(e) };
	int panels = 0;

	for (size_t i = 0; i < e->nr_rows; i++)
		panels += begins_load(e, i);
	picture_begin(f, TOP + panels * (HEAD + PLOT + AXIS), title);
	for (int i = 0; i < NR_TIMED_BY; i++)
		x = picture_key(f, x, 58, i, timed_by_name(i));
	for (size_t i = 0; i < e->nr_rows; i++) {
		if (!begins_load(e, i))
			continue;
		p.load = e->rows[i].load;
		p.error = (struct axis){ .low = -1, .high = 1,
					 .from = p.top + PLOT, .to = p.top };
		axis_divide(&p.error, INTERVALS);
		draw_panel(&p);
		p.top += HEAD + PLOT + AXIS;
	}
	svg_end(f);
	free(title);
	return ferror(f) ? -1 : 0;
}
