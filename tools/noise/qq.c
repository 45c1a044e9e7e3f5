// SPDX-License-Identifier: GPL-2.0
#include "qq.h"

#include <math.h>
#include <stdbool.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "measure/measure-output.h"

#define POINTS	500

/*
 * The scale of both axes of all panels. It is linear between the quartiles of
 * the times, and logarithmic beyond, so that tails leave room for the rest.
 */
struct window {
	double middle;		/* seconds */
	double even;
	struct axis axis;	/* of values of stretched(), across a panel */
};

static double stretched(const struct window *w, double seconds)
{
	return asinh((seconds - w->middle) / w->even);
}

static double place(const struct window *w, double seconds)
{
	return axis_place(&w->axis, stretched(w, seconds));
}

/* Seconds from the middle, if that is within the window. */
static void line(FILE *f, const struct window *w, double from)
{
	double x = place(w, w->middle + from);
	struct scale scale = scale_of(fabs(from));
	char label[40] = "0";

	if (x < 0 || x > QQ_PANEL)
		return;
	if (from != 0)
		snprintf(label, sizeof(label), "%+g %s", from * scale.factor,
			 scale.unit);
	fprintf(f, "<path d=\"M%.1f 0V%dM0 %.1fH%d\" class=\"grid\"/>\n", x,
		QQ_PANEL, QQ_PANEL - x, QQ_PANEL);
	fprintf(f, "<text x=\"%.1f\" y=\"%d\" class=\"x\">%s</text>\n", x,
		QQ_PANEL + 16, label);
	fprintf(f, "<text x=\"-6\" y=\"%.1f\" class=\"y\">%s</text>\n",
		QQ_PANEL - x + 4, label);
}

static void grid(FILE *f, const struct window *w)
{
	double furthest = w->even * sinh(fmax(w->axis.high, -w->axis.low));
	/* 1, 2 and 5 of each power of ten, or only 1 where there are many. */
	bool few = furthest < 50 * w->even;

	fprintf(f, "<rect width=\"%d\" height=\"%d\" class=\"frame\"/>\n", QQ_PANEL,
		QQ_PANEL);
	line(f, w, 0);
	for (int power = (int)floor(log10(w->even));
	     power <= (int)floor(log10(furthest)); power++) {
		for (int i = 1; i <= (few ? 5 : 1); i += i == 1 ? 1 : 3) {
			double at = i * pow(10, power);

			if (at < w->even)
				continue;
			line(f, w, at);
			line(f, w, -at);
		}
	}
	fprintf(f, "<path d=\"M0 %dL%d 0\" class=\"same\"/>\n", QQ_PANEL, QQ_PANEL);
}

/* A point beyond the window becomes a hollow one at its edge. */
static void points(FILE *f, const struct qq *qq, const struct window *w)
{
	size_t shown = qq->count < POINTS ? qq->count : POINTS;

	for (size_t i = 0; i < shown; i++) {
		size_t at = i * (qq->count - 1) / (shown - 1);
		double p = ((double)at + 0.5) / (double)qq->count;
		double x = place(w, dist_quantile(&qq->fit->dist, p));
		double inside = fmin(fmax(x, 0), QQ_PANEL);

		fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"%s/>\n",
			inside, QQ_PANEL - place(w, qq->sorted[at]),
			inside == x ? "" : " class=\"out\"");
	}
}

/* Keeps points off the frame. */
static struct window window_of(const struct qq *qq)
{
	struct window w = {
		.middle = qq->sorted[qq->count / 2],
		.even = qq->sorted[3 * (qq->count / 4)] -
			qq->sorted[qq->count / 4],
	};
	double least = stretched(&w, qq->sorted[0]);
	double most = stretched(&w, qq->sorted[qq->count - 1]);
	double margin = (most - least) / 40;

	w.axis = (struct axis){ .low = least - margin, .high = most + margin,
				.from = 0, .to = QQ_PANEL };
	return w;
}

int qq_width(int columns)
{
	return QQ_LEFT + columns * QQ_PANEL + (columns - 1) * QQ_GAP_X + 20;
}

int qq_height(int rows)
{
	return QQ_TOP + rows * QQ_PANEL + (rows - 1) * QQ_GAP_Y + 50;
}

void qq_panel(FILE *f, const struct qq *qq, int number, int columns)
{
	struct window w = window_of(qq);

	fprintf(f, "<g transform=\"translate(%d %d)\">\n<text x=\"0\" y=\"-10\">",
		QQ_LEFT + number % columns * (QQ_PANEL + QQ_GAP_X),
		QQ_TOP + number / columns * (QQ_PANEL + QQ_GAP_Y));
	xml_text(f, qq->title);
	fputs("</text>\n", f);
	grid(f, &w);
	if (qq->fit->converged)
		points(f, qq, &w);
	fprintf(f, "<text x=\"%d\" y=\"%d\" class=\"x\">quantiles of the fit, from the times' median</text>\n",
		QQ_PANEL / 2, QQ_PANEL + 36);
	fprintf(f, "<text transform=\"translate(-62 %d) rotate(-90)\" class=\"x\">quantiles of the times</text>\n",
		QQ_PANEL / 2);
	fputs("</g>\n", f);
}
