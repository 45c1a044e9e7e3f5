// SPDX-License-Identifier: GPL-2.0
#include "scatter.h"

#include <math.h>
#include <string.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "measure-output.h"

/* The range of both axes. */
struct range {
	double low;
	double high;
};

/* A point, as parts of the range; false if it is outside. */
struct point {
	double x;
	double y;
	bool central;
};

static struct range of_all(const struct series *s)
{
	struct range r = { INFINITY, -INFINITY };
	double margin;

	for (size_t i = 0; i < s->count; i++) {
		r.low = fmin(r.low, s->samples[i].levelled);
		r.high = fmax(r.high, s->samples[i].levelled);
	}
	margin = fmax((r.high - r.low) / 20, r.high * 1e-6);
	return (struct range){ fmax(r.low - margin, 0), r.high + margin };
}

static struct range of_cluster(const struct series *s)
{
	double low = 2 * s->cluster.centre - s->cluster.bound;

	return (struct range){ fmax(low, 0), s->cluster.bound };
}

static double part_of(const struct range *r, double seconds)
{
	return (seconds - r->low) / (r->high - r->low);
}

/* A sample is in one pair only, so that a long one marks one arm of the plot. */
static size_t pairs_of(const struct series *s)
{
	return s->count / 2;
}

static bool place(const struct series *s, const struct range *r, size_t pair,
		  struct point *p)
{
	const size_t first = 2 * pair, second = first + 1;

	*p = (struct point){
		.x = part_of(r, s->samples[first].levelled),
		.y = part_of(r, s->samples[second].levelled),
		.central = learn_is_central(s, first) &&
			   learn_is_central(s, second),
	};
	return p->x >= 0 && p->x <= 1 && p->y >= 0 && p->y <= 1;
}

/* In text. */
#define COLUMNS	36
#define ROWS	16

struct panel {
	unsigned int central[ROWS][COLUMNS];
	bool other[ROWS][COLUMNS];
};

static int cell(double part, int cells)
{
	int i = (int)(part * cells);

	return i < cells ? i : cells - 1;
}

static void fill(struct panel *panel, const struct series *s,
		 const struct range *r)
{
	struct point p;

	memset(panel, 0, sizeof(*panel));
	for (size_t i = 0; i < pairs_of(s); i++) {
		int row, column;

		if (!place(s, r, i, &p))
			continue;
		row = ROWS - 1 - cell(p.y, ROWS);
		column = cell(p.x, COLUMNS);
		if (p.central)
			panel->central[row][column]++;
		else
			panel->other[row][column] = true;
	}
}

static char mark(const struct panel *panel, int row, int column)
{
	unsigned int n = panel->central[row][column];

	if (panel->other[row][column])
		return 'x';
	return n == 0 ? ' ' : n == 1 ? '.' : n < 5 ? 'o' : '#';
}

static void put_row(FILE *f, const struct panel *panel, int row)
{
	fputs(" |", f);
	for (int i = 0; i < COLUMNS; i++)
		fputc(mark(panel, row, i), f);
	fputc('|', f);
}

static void put_border(FILE *f)
{
	for (int i = 0; i < 2; i++)
		fputs(" +------------------------------------+", f);
	fputc('\n', f);
}

/* Prints the line below a panel, as wide as the panel. */
static void put_range(FILE *f, const struct range *r, const char *what)
{
	const struct scale scale = scale_of(r->high);
	char line[COLUMNS + 1];

	snprintf(line, sizeof(line), "%s, %.5g to %.5g %s", what,
		 r->low * scale.factor, r->high * scale.factor, scale.unit);
	fprintf(f, "  %-*s ", COLUMNS, line);
}

void scatter_text(FILE *f, const struct series *s)
{
	const struct range all = of_all(s), cluster = of_cluster(s);
	struct panel left, right;

	fill(&left, s, &all);
	fill(&right, s, &cluster);
	put_border(f);
	for (int row = 0; row < ROWS; row++) {
		put_row(f, &left, row);
		put_row(f, &right, row);
		fputc('\n', f);
	}
	put_border(f);
	put_range(f, &all, "all");
	put_range(f, &cluster, "the cluster");
	fputs("\n  rightwards the first sample of a pair, upwards the second one;\n"
	      "  . o #: 1, 2 to 4, more pairs; x: one of the two is an L-sample\n", f);
}

/* As a picture. */
#define LEFT	90
#define TOP	60
#define SIDE	340
#define APART	130
#define WIDTH	(LEFT + 2 * SIDE + APART + 30)
#define HEIGHT	(TOP + SIDE + 70)
#define TICKS	5

static const char style[] =
SVG_TEXT
"text.title{font-size:15px;font-weight:600;fill:#1d2025}"
".grid{stroke:#ebe8e1}.axis{stroke:#b3b1ab;fill:none}"
".zoom{stroke:#1d2025;stroke-dasharray:3 3;fill:none}"
".central{fill:#2b62d9;fill-opacity:.5}.other{fill:#e0314b;fill-opacity:.7}";

struct frame {
	FILE *f;
	const struct series *series;
	struct range range;
	double x;
	double y;
};

/* Makes an axis whose values are in the unit of the labels. */
static struct axis axis_of(const struct frame *frame, double factor,
			   double from, double to)
{
	struct axis a = {
		.low = frame->range.low * factor,
		.high = frame->range.high * factor, .from = from, .to = to,
	};

	axis_divide(&a, TICKS);
	return a;
}

static double frame_x(const struct frame *frame, double part)
{
	return frame->x + part * SIDE;
}

static double frame_y(const struct frame *frame, double part)
{
	return frame->y + (1 - part) * SIDE;
}

static void draw_axes(const struct frame *frame)
{
	const struct scale scale = scale_of(frame->range.high);
	struct axis x = axis_of(frame, scale.factor, frame_x(frame, 0),
				frame_x(frame, 1));
	struct axis y = axis_of(frame, scale.factor, frame_y(frame, 0),
				frame_y(frame, 1));
	int digits = axis_digits(&x);
	FILE *f = frame->f;
	double tick;

	for (unsigned int i = 0; axis_tick(&x, i, &tick); i++) {
		double at_x = axis_place(&x, tick), at_y = axis_place(&y, tick);

		fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fv-%d\"/>\n",
			at_x, y.from, SIDE);
		fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fh%d\"/>\n",
			x.from, at_y, SIDE);
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.*f</text>\n",
			at_x, y.from + 16, digits, tick);
		fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
			x.from - 6, at_y + 4, digits, tick);
	}
	fprintf(f, "<rect class=\"axis\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
		frame->x, frame->y, SIDE, SIDE);
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">first sample of a pair, elapsed time, levelled, %s</text>\n",
		frame_x(frame, 0.5), frame_y(frame, 0) + 36, scale.unit);
	fprintf(f, "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">second one, %s</text>\n",
		frame->x - 60, frame_y(frame, 0.5), scale.unit);
}

static void draw_points(const struct frame *frame)
{
	struct point p;

	for (size_t i = 0; i < pairs_of(frame->series); i++)
		if (place(frame->series, &frame->range, i, &p))
			fprintf(frame->f, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n",
				p.central ? "central" : "other",
				frame_x(frame, p.x), frame_y(frame, p.y));
}

/* Where the other frame is in this one, as far as it is. */
static void draw_zoom(const struct frame *frame, const struct range *zoom)
{
	double low = fmax(part_of(&frame->range, zoom->low), 0);
	double high = fmin(part_of(&frame->range, zoom->high), 1);

	fprintf(frame->f, "<rect class=\"zoom\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		frame_x(frame, low), frame_y(frame, high), (high - low) * SIDE,
		(high - low) * SIDE);
}

static void draw_series(FILE *f, const struct series *s, double top)
{
	struct frame all = { f, s, of_all(s), LEFT, top + TOP };
	struct frame cluster = { f, s, of_cluster(s), LEFT + SIDE + APART,
				 top + TOP };

	fprintf(f, "<text class=\"title\" x=\"%d\" y=\"%.1f\">%zu samples of %g s: all, and the central cluster</text>\n",
		LEFT, top + TOP - 20, s->count, s->length);
	draw_axes(&all);
	draw_zoom(&all, &cluster.range);
	draw_points(&all);
	draw_axes(&cluster);
	draw_points(&cluster);
}

void scatter_svg(FILE *f, const struct learnt *learnt)
{
	int rows = 0, row = 0;

	for (int i = TASK_SHORT; i <= TASK_LONG; i++)
		rows += learnt->series[i].count > 0;
	svg_begin(f, WIDTH, rows * HEIGHT, style);
	for (int i = TASK_SHORT; i <= TASK_LONG; i++)
		if (learnt->series[i].count)
			draw_series(f, &learnt->series[i],
				    (double)row++ * HEIGHT);
	svg_end(f);
}
