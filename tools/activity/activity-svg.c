// SPDX-License-Identifier: GPL-2.0
/*
 * Activity over time. Time goes along rows, as text does, so that interrupts at
 * even times are seen to be below each other.
 */
#include <math.h>
#include <stdlib.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "output.h"
#include "picture.h"

enum {
	TOP = 76,
	HEAD = 44,		/* above the rows of a recording */
	ROW = 16,
	ROW_STEP = 22,
	AXIS = 30,		/* below them */
	ROWS_MAX = 10,
	ACTIVE_COLOUR = 3,	/* a gap's colour is its cause */
};

/* The shortest bar, in units of the picture: a thinner one would vanish. */
#define WIDTH_MIN	0.8

struct rows {
	FILE *f;
	const struct recording *r;
	struct axis axis;	/* ns, of each row */
	int count;
	double top;
};

static double row_ns(const struct recording *r)
{
	return nice_step((double)r->length * r->ns, ROWS_MAX);
}

static int rows_of(const struct recording *r)
{
	return (int)ceil((double)r->length * r->ns / row_ns(r));
}

static int height_of(const struct recording *r)
{
	return HEAD + rows_of(r) * ROW_STEP + AXIS;
}

static double x_of(const struct rows *p, double ns)
{
	return axis_place(&p->axis, ns);
}

/* A bar in a row, from and to which in ns of that row. */
static void draw_bar(const struct rows *p, int row, double from, double to)
{
	double x = x_of(p, from);

	fprintf(p->f, "M%.2f %.1fh%.2fv%dH%.2fz", x, p->top + row * ROW_STEP,
		fmax(x_of(p, to) - x, WIDTH_MIN), ROW, x);
}

/* A time that may go over several rows. */
static void draw_span(const struct rows *p, double from, double to)
{
	for (int row = (int)(from / p->axis.high); row < p->count; row++) {
		double begin = row * p->axis.high;

		if (begin >= to)
			break;
		draw_bar(p, row, fmax(from - begin, 0),
			 fmin(to - begin, p->axis.high));
	}
}

/* Leaves out each gap that the last drawn bar already covers. */
static void draw_cause(const struct rows *p, enum cause cause)
{
	double ns = p->r->ns, drawn = -1;
	double least = WIDTH_MIN / (PICTURE_RIGHT - PICTURE_LEFT) * p->axis.high;

	fprintf(p->f, "<path class=\"f%d\" d=\"", (int)cause);
	for (size_t i = 0; i < p->r->count; i++) {
		const struct gap *gap = &p->r->gaps[i];
		double from = (double)gap->begin * ns;
		double to = (double)gap->end * ns;

		if (gap->cause != cause || to <= drawn)
			continue;
		draw_span(p, from, to);
		drawn = fmax(to, from + least);
	}
	fputs("\"/>\n", p->f);
}

static void draw_axis(const struct rows *p)
{
	double bottom = p->top + p->count * ROW_STEP, tick;

	for (unsigned int i = 0; axis_tick(&p->axis, i, &tick); i++)
		picture_text(p->f, x_of(p, tick), bottom + 12, "middle", "%g",
			     tick / 1e6);
	picture_text(p->f, PICTURE_LEFT - 12, bottom + 12, "end", "+ ms");
	for (int row = 0; row < p->count; row++)
		picture_text(p->f, PICTURE_LEFT - 12,
			     p->top + row * ROW_STEP + 12, "end", "%g",
			     row * p->axis.high / 1e6);
}

static char *timer_text(const struct recording *r)
{
	double ms = r->timer.interval * r->ns / 1e6;

	return ms > 0 ? xprintf("timer interval %.4g ms", ms) :
			xstrdup("no timer interval seen");
}

static void draw_head(const struct rows *p)
{
	const struct recording *r = p->r;
	struct share inactive = periods_inactive(r);
	char *load = load_text(r->load), *timer = timer_text(r);

	picture_text(p->f, PICTURE_LEFT, p->top - 12, "head",
		     "%s: active %.2f %%, %s", load,
		     100 - (double)inactive.total / (double)r->length * 100,
		     timer);
	free(load);
	free(timer);
}

static void draw_recording(FILE *f, const struct recording *r, double top)
{
	struct rows p = { .f = f, .r = r, .count = rows_of(r),
			  .top = top + HEAD };

	p.axis = (struct axis){ .high = row_ns(r), .from = PICTURE_LEFT,
				.to = PICTURE_RIGHT };
	axis_divide(&p.axis, 10);
	draw_head(&p);
	fprintf(f, "<path class=\"f%d\" d=\"", ACTIVE_COLOUR);
	draw_span(&p, 0, (double)r->length * r->ns);
	fputs("\"/>\n", f);
	for (int i = NR_CAUSES; i-- > 0;)
		draw_cause(&p, i);
	draw_axis(&p);
}

int activity_svg(FILE *f, const struct activity *a)
{
	char *title = xprintf("Active and inactive periods on CPU %d",
			      a->watcher.cpu);
	double x = PICTURE_LEFT, top = TOP;
	int height = TOP;

	for (size_t i = 0; i < a->count; i++)
		height += height_of(&a->recordings[i]);
	picture_begin(f, height, title);
	x = picture_key(f, x, 58, ACTIVE_COLOUR, "active");
	for (int i = 0; i < NR_CAUSES; i++)
		x = picture_key(f, x, 58, i, cause_name(i));
	for (size_t i = 0; i < a->count; i++) {
		draw_recording(f, &a->recordings[i], top);
		top += height_of(&a->recordings[i]);
	}
	svg_end(f);
	free(title);
	return ferror(f) ? -1 : 0;
}
