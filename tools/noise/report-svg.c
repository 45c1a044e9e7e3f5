// SPDX-License-Identifier: GPL-2.0
/*
 * Quantiles of the times over those of each fit: on the diagonal where it is
 * right.
 */
#include <math.h>
#include <stdbool.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "measure/measure-output.h"
#include "report.h"

enum {
	PANEL = 300, LEFT = 76, TOP = 34, GAP_X = 96, GAP_Y = 70, COLUMNS = 2,
	WIDTH = LEFT + COLUMNS * PANEL + (COLUMNS - 1) * GAP_X + 20,
	HEIGHT = TOP + 2 * PANEL + GAP_Y + 50,
	POINTS = 500,
};

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

	if (x < 0 || x > PANEL)
		return;
	if (from != 0)
		snprintf(label, sizeof(label), "%+g %s", from * scale.factor,
			 scale.unit);
	fprintf(f, "<path d=\"M%.1f 0V%dM0 %.1fH%d\" class=\"grid\"/>\n", x,
		PANEL, PANEL - x, PANEL);
	fprintf(f, "<text x=\"%.1f\" y=\"%d\" class=\"x\">%s</text>\n", x,
		PANEL + 16, label);
	fprintf(f, "<text x=\"-6\" y=\"%.1f\" class=\"y\">%s</text>\n",
		PANEL - x + 4, label);
}

static void grid(FILE *f, const struct window *w)
{
	double furthest = w->even * sinh(fmax(w->axis.high, -w->axis.low));
	/* 1, 2 and 5 of each power of ten, or only 1 where there are many. */
	bool few = furthest < 50 * w->even;

	fprintf(f, "<rect width=\"%d\" height=\"%d\" class=\"frame\"/>\n", PANEL,
		PANEL);
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
	fprintf(f, "<path d=\"M0 %dL%d 0\" class=\"same\"/>\n", PANEL, PANEL);
}

/* A point beyond the window becomes a hollow one at its edge. */
static void points(FILE *f, const struct report *r, const struct fit *fit,
		   const struct window *w)
{
	size_t shown = r->count < POINTS ? r->count : POINTS;

	for (size_t i = 0; i < shown; i++) {
		size_t at = i * (r->count - 1) / (shown - 1);
		double p = ((double)at + 0.5) / (double)r->count;
		double x = place(w, dist_quantile(&fit->dist, p));
		double inside = fmin(fmax(x, 0), PANEL);

		fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"%s/>\n",
			inside, PANEL - place(w, r->sorted[at]),
			inside == x ? "" : " class=\"out\"");
	}
}

static void panel(FILE *f, const struct report *r, int number,
		  const struct window *w)
{
	const struct fit *fit = &r->fits[number];

	fprintf(f, "<g transform=\"translate(%d %d)\">\n",
		LEFT + number % COLUMNS * (PANEL + GAP_X),
		TOP + number / COLUMNS * (PANEL + GAP_Y));
	fprintf(f, "<text x=\"0\" y=\"-10\">%s", family_name(fit->dist.family));
	if (fit->converged)
		fprintf(f, ", Anderson-Darling %.4g", fit->anderson_darling);
	else
		fputs(": no maximum of the likelihood was found", f);
	fputs("</text>\n", f);
	grid(f, w);
	if (fit->converged)
		points(f, r, fit, w);
	fprintf(f, "<text x=\"%d\" y=\"%d\" class=\"x\">quantiles of the fit, from the times' median</text>\n",
		PANEL / 2, PANEL + 36);
	fprintf(f, "<text transform=\"translate(-62 %d) rotate(-90)\" class=\"x\">quantiles of the times</text>\n",
		PANEL / 2);
	fputs("</g>\n", f);
}

/* Keeps points off the frame. */
static struct window window_of(const struct report *r)
{
	struct window w = {
		.middle = r->sorted[r->count / 2],
		.even = r->sorted[3 * (r->count / 4)] -
			r->sorted[r->count / 4],
	};
	double least = stretched(&w, r->sorted[0]);
	double most = stretched(&w, r->sorted[r->count - 1]);
	double margin = (most - least) / 40;

	w.axis = (struct axis){ .low = least - margin, .high = most + margin,
				.from = 0, .to = PANEL };
	return w;
}

int report_svg(FILE *f, const struct report *r)
{
	static const char style[] =
		"text{font:12px sans-serif;fill:#222}.x{text-anchor:middle}.y{text-anchor:end}\n"
		".frame{fill:#fff;stroke:#666}.grid{stroke:#ddd}.same{stroke:#666;stroke-dasharray:4 3}\n"
		"circle{fill:#2a6f97}.out{fill:none;stroke:#c0392b}";
	struct window w = window_of(r);

	svg_begin(f, WIDTH, HEIGHT, style);
	for (int i = 0; i < NR_FAMILIES; i++)
		panel(f, r, i, &w);
	svg_end(f);
	return ferror(f) ? -1 : 0;
}
