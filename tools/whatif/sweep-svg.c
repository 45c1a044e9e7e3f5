// SPDX-License-Identifier: GPL-2.0
/* Draws the gain of each variant over the number of CPUs, whose axis is logarithmic. */
#include <math.h>
#include <stdlib.h>

#include "base/axis.h"
#include "base/drawing.h"
#include "base/util.h"
#include "sweep-output.h"
#include "words.h"

enum {
	WIDTH = 800, PLOT = 340,
	LEFT = 66, RIGHT = 776, INSIDE = 36,
	TITLE = 30, KEYS = 56, KEY = 20, BOTTOM = 56,
	TITLE_MAX = 90,		/* bytes of the command line */
	COLOURS = 6,
};

/* Marks of several variants lie beside each other, within this width. */
#define SPREAD	30.0
#define APART	7.0

static const char style[] =
SVG_TEXT
"text.title{font-size:17px;font-weight:600;fill:#1d2025}"
"text.middle{text-anchor:middle}text.end{text-anchor:end}"
".grid{stroke:#ebe8e1}.zero{stroke:#b3b1ab}"
".line,.bar{fill:none;stroke-width:2;stroke-linejoin:round}"
".dashed{stroke-dasharray:6 4}.mark{stroke-width:2}"
".s0{stroke:#2b62d9}.f0{fill:#2b62d9}.s1{stroke:#c2590c}.f1{fill:#c2590c}"
".s2{stroke:#0d8a74}.f2{fill:#0d8a74}.s3{stroke:#8a45c4}.f3{fill:#8a45c4}"
".s4{stroke:#c0304a}.f4{fill:#c0304a}.s5{stroke:#6b7400}.f5{fill:#6b7400}"
".mark.unsure{fill:#fff}";

struct picture {
	FILE *f;
	const struct sweep *s;
	size_t nr_variants;
	double top, bottom;	/* of the plot */
	struct axis cpus;	/* logarithms to base 2 */
	struct axis gain;
};

static const struct whatif_result *result(const struct picture *p, size_t i,
					  size_t variant)
{
	return whatif_result(&p->s->answers[i].answer,
			     CONDITIONS_FIRST + variant);
}

/* The place of a change in the plot. */
static double y_of(const struct picture *p, double change)
{
	return axis_place(&p->gain,
			  whatif_gain(&p->s->answers[0].question, change));
}

static double x_of(const struct picture *p, size_t i)
{
	return axis_place(&p->cpus, log2(p->s->cpus.list[i]));
}

static double shift_of(const struct picture *p, size_t variant)
{
	double middle = (p->nr_variants - 1) / 2.0;
	double apart = middle ? fmin(APART, SPREAD / 2 / middle) : 0;

	return ((double)variant - middle) * apart;
}

static void put_text(FILE *f, double x, double y, const char *class,
		     const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	xml_text(f, text);
	fputs("</text>\n", f);
}

static struct axis cpus_axis(const struct sweep *s)
{
	struct axis a = {
		.low = log2(s->cpus.list[0]),
		.high = log2(s->cpus.list[s->count - 1]),
		.from = LEFT + INSIDE, .to = RIGHT - INSIDE,
	};

	/* A single number is in the middle. */
	if (a.high <= a.low) {
		a.low--;
		a.high = a.low + 2;
	}
	return a;
}

static void set_axes(struct picture *p)
{
	const struct whatif_question *q = &p->s->answers[0].question;

	p->cpus = cpus_axis(p->s);
	for (size_t i = 0; i < p->s->count; i++) {
		for (size_t v = 0; v < p->nr_variants; v++) {
			const struct whatif_result *r = result(p, i, v);

			axis_include(&p->gain, whatif_gain(q, r->change.low));
			axis_include(&p->gain, whatif_gain(q, r->change.high));
		}
	}
	axis_finish(&p->gain, 8, p->bottom, p->top);
}

static void draw_grid(const struct picture *p)
{
	char text[40];
	double v;

	for (unsigned int i = 0; axis_tick(&p->gain, i, &v); i++) {
		double y = axis_place(&p->gain, v);

		fprintf(p->f, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>\n",
			v == 0 ? "zero" : "grid", LEFT, y, RIGHT);
		snprintf(text, sizeof(text), "%.*f", axis_digits(&p->gain), v);
		put_text(p->f, LEFT - 10, y + 4, "end", text);
	}
	for (size_t i = 0; i < p->s->count; i++) {
		double x = x_of(p, i);

		fprintf(p->f, "<path class=\"zero\" d=\"M%.1f %.1fv5\"/>\n", x,
			p->bottom);
		snprintf(text, sizeof(text), "%u", p->s->cpus.list[i]);
		put_text(p->f, x, p->bottom + 20, "middle", text);
	}
}

static void draw_titles(const struct picture *p)
{
	const struct whatif_question *q = &p->s->answers[0].question;
	char *command = whatif_command(q);
	char *title = xprintf("%.*s", TITLE_MAX, command);

	put_text(p->f, LEFT, TITLE, "title", title);
	put_text(p->f, (LEFT + RIGHT) / 2.0, p->bottom + 42, "middle", "CPUs");
	fprintf(p->f, "<text class=\"middle\" transform=\"translate(18 %.1f) rotate(-90)\">",
		(p->top + p->bottom) / 2);
	xml_text(p->f, whatif_gain_title(q));
	fputs("</text>\n", p->f);
	free(title);
	free(command);
}

/* Returns the classes of a variant's lines. */
static char *line_class(size_t variant)
{
	return xprintf("line s%zu%s", variant % COLOURS,
		       variant / COLOURS % 2 ? " dashed" : "");
}

static void draw_key(const struct picture *p, size_t variant)
{
	char *words = sweep_variant_words(p->s, CONDITIONS_FIRST + variant);
	char *class = line_class(variant);
	double y = KEYS + (double)KEY * variant;

	fprintf(p->f, "<path class=\"%s\" d=\"M%d %.1fh24\"/>\n", class, LEFT,
		y - 4);
	put_text(p->f, LEFT + 32, y, "start", words);
	free(class);
	free(words);
}

static void draw_line(const struct picture *p, size_t variant)
{
	char *class = line_class(variant);

	fprintf(p->f, "<polyline class=\"%s\" points=\"", class);
	for (size_t i = 0; i < p->s->count; i++)
		fprintf(p->f, "%s%.1f,%.1f", i ? " " : "",
			x_of(p, i) + shift_of(p, variant),
			y_of(p, result(p, i, variant)->change.value));
	fputs("\"/>\n", p->f);
	free(class);
}

/* A hollow mark is no prediction. */
static void draw_mark(const struct picture *p, size_t i, size_t variant)
{
	const struct whatif_result *r = result(p, i, variant);
	char *sentence = whatif_sentence(&p->s->answers[i],
					 CONDITIONS_FIRST + variant);
	char *cpus = cpus_text(p->s->cpus.list[i]);
	char *title = xprintf("%s, %s: %s", cpus, whatif_verdict(r->verdict), sentence);
	double x = x_of(p, i) + shift_of(p, variant);
	double low = y_of(p, r->change.low), high = y_of(p, r->change.high);
	size_t colour = variant % COLOURS;

	fputs("<g><title>", p->f);
	xml_text(p->f, title);
	fprintf(p->f, "</title><path class=\"bar s%zu\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8\"/>",
		colour, x, low, high, x - 4, low, x - 4, high);
	fprintf(p->f, "<circle class=\"mark s%zu f%zu%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>\n",
		colour, colour, r->verdict == VERDICT_PREDICTION ? "" : " unsure",
		x, y_of(p, r->change.value));
	free(title);
	free(cpus);
	free(sentence);
}

static void draw_note(const struct picture *p)
{
	bool unsure = false;

	for (size_t i = 0; i < p->s->count; i++)
		for (size_t v = 0; v < p->nr_variants; v++)
			unsure = unsure ||
				 result(p, i, v)->verdict != VERDICT_PREDICTION;
	if (unsure)
		put_text(p->f, RIGHT, p->bottom + 42, "end",
			 "hollow: no prediction, see the verdict");
}

int sweep_svg(FILE *f, const struct sweep *s)
{
	struct picture p = {
		.f = f, .s = s,
		.nr_variants = s->answers[0].plan.nr_conditions - CONDITIONS_FIRST,
	};

	p.top = KEYS + (double)KEY * p.nr_variants;
	p.bottom = p.top + PLOT;
	set_axes(&p);
	svg_begin(f, WIDTH, (int)p.bottom + BOTTOM, style);
	draw_titles(&p);
	draw_grid(&p);
	for (size_t v = 0; v < p.nr_variants; v++) {
		draw_key(&p, v);
		draw_line(&p, v);
		for (size_t i = 0; i < s->count; i++)
			draw_mark(&p, i, v);
	}
	draw_note(&p);
	svg_end(f);
	return fflush(f) || ferror(f) ? -1 : 0;
}
