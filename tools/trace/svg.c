// SPDX-License-Identifier: GPL-2.0
/*
 * The picture of a recorded run. Over one axis of real time: how each thread
 * gets on in virtual time, what each did, and how far CPUs were ahead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "svg-lanes.h"
#include "svg-lines.h"
#include "svg-picture.h"
#include "base/drawing.h"
#include "base/util.h"

#define TITLE_MAX	96	/* bytes of the command line */

static const char style[] =
SVG_TEXT
"text.title{font-size:17px;font-weight:600;fill:#1d2025}"
"text.lost{fill:#b0243b;font-weight:600}"
"text.name{font-weight:600}"
"text.head{fill:#1d2025;font-weight:600}"
".grid{stroke:#ebe8e1}.axis{stroke:#b3b1ab;fill:none}"
".line{fill:none;stroke-width:2;stroke-linejoin:round;"
"stroke-linecap:round}"
".line.thin{stroke-width:1.2}"
".leader{fill:none;stroke-width:1;opacity:.5}"
".halo{fill:none;stroke:#e0314b;stroke-width:7}"
".real{stroke:#b3b1ab;stroke-dasharray:2 4;fill:none}"
".window{fill:#8fa3c8;fill-opacity:.25}"
".ready{opacity:.4}.gated{fill:#e0314b}"
".life{stroke:#c9c5bc}"
".s0{stroke:#2b62d9}.f0{fill:#2b62d9}.s1{stroke:#d9730d}.f1{fill:#d9730d}"
".s2{stroke:#0d8a74}.f2{fill:#0d8a74}.s3{stroke:#8a45c4}.f3{fill:#8a45c4}"
".s4{stroke:#8a8f00}.f4{fill:#8a8f00}.s5{stroke:#0b93b8}.f5{fill:#0b93b8}"
".s6{stroke:#7a5230}.f6{fill:#7a5230}.s7{stroke:#c04fa8}.f7{fill:#c04fa8}"
".s8{stroke:#3f7d2a}.f8{fill:#3f7d2a}.s9{stroke:#5a6270}.f9{fill:#5a6270}"
".s10{stroke:#7da2f0}.f10{fill:#7da2f0}.s11{stroke:#f0a860}.f11{fill:#f0a860}"
".s12{stroke:#5fbfab}.f12{fill:#5fbfab}.s13{stroke:#bd93e6}.f13{fill:#bd93e6}"
".s14{stroke:#bcc14e}.f14{fill:#bcc14e}.s15{stroke:#6cc6de}.f15{fill:#6cc6de}"
".s16{stroke:#b08a68}.f16{fill:#b08a68}.s17{stroke:#e394cf}.f17{fill:#e394cf}"
".s18{stroke:#88ba76}.f18{fill:#88ba76}.s19{stroke:#98a1b3}.f19{fill:#98a1b3}";

/* Chooses the threads with most virtual time, in the order of their births. */
static void choose_lanes(struct picture *p)
{
	const struct model *m = p->m;

	for (size_t i = 0; i < m->nr_lanes; i++) {
		size_t before = 0;

		for (size_t j = 0; j < m->nr_lanes; j++)
			before += m->lanes[j].charged > m->lanes[i].charged ||
				  (m->lanes[j].charged == m->lanes[i].charged &&
				   j < i);
		if (before < SVG_LANES)
			p->lanes[p->nr_lanes++] = &m->lanes[i];
	}
}

/* With its number where the name is not its own. */
static char *lane_name(const struct picture *p, const struct lane *l)
{
	bool alone = true;

	for (int i = 0; i < p->nr_lanes; i++)
		if (p->lanes[i] != l && !strcmp(p->lanes[i]->name, l->name))
			alone = false;
	return alone ? xstrdup(l->name) : xprintf("%s %d", l->name, l->pid);
}

static char *lane_label(const struct picture *p, const struct lane *l)
{
	char *name = lane_name(p, l), *percent = lane_percent(l);
	char *label = xprintf("%s, %s", name, percent);

	free(name);
	free(percent);
	return label;
}

/* A time with three digits, in a unit for readers. */
static char *time_text(double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" },
	};
	int i = 0;
	double value;

	while (i < 3 && ns < units[i].ns)
		i++;
	value = ns / units[i].ns;
	return xprintf("%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0,
		       value, units[i].name);
}

static char *ran_label(const struct lane *l)
{
	char *ran = time_text(lane_ran(l)), *gated = time_text(lane_gated(l));
	char *label = lane_gated(l) ?
		xprintf("ran %s, gated %s", ran, gated) : xprintf("ran %s", ran);

	free(ran);
	free(gated);
	return label;
}

/* Draws text and frees it. */
static void put_text(const struct picture *p, double x, double y,
		     const char *attributes, char *text)
{
	fprintf(p->f, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
	xml_text(p->f, text);
	fputs("</text>\n", p->f);
	free(text);
}

static void lay_out(struct picture *p)
{
	size_t widest = 14;
	double highest = 1, lead = 0;
	const struct model *m = p->m;

	choose_lanes(p);
	for (int i = 0; i < p->nr_lanes; i++) {
		char *label = lane_label(p, p->lanes[i]);
		char *ran = ran_label(p->lanes[i]);

		if (strlen(label) > widest)
			widest = strlen(label);
		if (strlen(ran) > widest)
			widest = strlen(ran);
		free(label);
		free(ran);
	}
	p->right = SVG_WIDTH - 30 - (int)(7.2 * widest);
	p->lines = m->lost ? 106 : 88;
	p->states = p->lines + SVG_PLOT + SVG_GAP;
	p->bottom = p->states + p->nr_lanes * SVG_LANE_STEP;
	if (m->cpus > 1) {
		p->leads = p->bottom + SVG_GAP - 8;
		p->bottom = p->leads + SVG_LEADS;
	}

	for (int i = 0; i < p->nr_lanes; i++) {
		const struct lane *l = p->lanes[i];

		highest = fmax(highest, l->birth + l->charged);
		for (size_t j = 0; j < l->nr_leads; j++)
			lead = fmax(lead, l->leads[j].ns);
	}
	p->real = (struct axis){ .high = m->end, .from = SVG_LEFT,
				 .to = p->right };
	p->virtual = (struct axis){ .high = highest * 1.04,
				    .from = p->lines + SVG_PLOT, .to = p->lines };
	/* A window that is never near would only make the rest small. */
	if (lead * 3 > m->window)
		lead = fmax(lead, m->window);
	p->lead = (struct axis){ .high = fmax(lead * 1.15, 1),
				 .from = p->leads + SVG_LEADS, .to = p->leads };
}

/* An axis for labels, in the unit that fits its end. Names the unit. */
static struct axis label_axis(const struct axis *ns, int most,
			      const char **unit)
{
	double factor = 1e-9;
	struct axis a;

	*unit = "s";
	if (ns->high < 2e9) {
		factor = 1e-6;
		*unit = "ms";
	}
	if (ns->high < 2e6) {
		factor = 1e-3;
		*unit = "us";
	}
	a = axis_in_unit(ns, factor);
	axis_divide(&a, most);
	return a;
}

static void draw_time_axis(const struct picture *p)
{
	const char *unit;
	struct axis a = label_axis(&p->real, 10, &unit);
	double tick;

	for (unsigned int i = 0; axis_tick(&a, i, &tick); i++) {
		double x = axis_place(&a, tick);

		fprintf(p->f, "<path class=\"grid\" d=\"M%.1f %dv%dM%.1f %dv%d",
			x, p->lines, SVG_PLOT, x, p->states - 4,
			p->nr_lanes * SVG_LANE_STEP);
		if (p->leads)
			fprintf(p->f, "M%.1f %dv%d", x, p->leads, SVG_LEADS);
		fputs("\"/>\n", p->f);
		put_text(p, x, p->bottom + 18, " text-anchor=\"middle\"",
			 xprintf("%.*f", axis_digits(&a), tick));
	}
	put_text(p, (SVG_LEFT + p->right) / 2.0, p->bottom + 38,
		 " text-anchor=\"middle\" class=\"head\"",
		 xprintf("real time, %s", unit));
}

/* Draws lines across a panel, with labels on their left. Names the unit. */
static void draw_lines(const struct picture *p, const struct axis *ns,
		       int most, const char **unit)
{
	struct axis a = label_axis(ns, most, unit);
	double tick;

	for (unsigned int i = 0; axis_tick(&a, i, &tick); i++) {
		double y = axis_place(&a, tick);

		fprintf(p->f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n",
			SVG_LEFT, y, p->right);
		put_text(p, SVG_LEFT - 8, y + 4, " text-anchor=\"end\"",
			 xprintf("%.*f", axis_digits(&a), tick));
	}
}

static void draw_virtual_axis(const struct picture *p)
{
	const char *unit;
	char at[80];

	draw_lines(p, &p->virtual, 8, &unit);
	snprintf(at, sizeof(at),
		 " text-anchor=\"middle\" class=\"head\" transform=\"rotate(-90 24 %d)\"",
		 p->lines + SVG_PLOT / 2);
	put_text(p, 24, p->lines + SVG_PLOT / 2.0, at,
		 xprintf("progress in virtual time, %s", unit));
}

/* The line of a thread that is at 100 % and has a CPU all the time. */
static void draw_real(const struct picture *p)
{
	double end = fmin(p->m->end, p->virtual.high);

	fprintf(p->f, "<path class=\"real\" d=\"M%d %dL%.1f %.1f\"><title>virtual time = real time</title></path>\n",
		SVG_LEFT, p->lines + SVG_PLOT, svg_x(p, end), svg_y(p, end));
}

struct label {
	int lane;
	double from;		/* where the line ends */
	double y;
};

static int by_height(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->lane - y->lane;
}

/* Apart from each other, and none of them below the panel. */
static void spread(const struct picture *p, struct label *labels)
{
	double least = 15, bottom = p->lines + SVG_PLOT + 2;

	for (int i = 0; i < p->nr_lanes; i++) {
		labels[i].y = labels[i].from;
		if (i && labels[i].y < labels[i - 1].y + least)
			labels[i].y = labels[i - 1].y + least;
	}
	for (int i = p->nr_lanes; i-- > 0; bottom = labels[i].y - least)
		if (labels[i].y > bottom)
			labels[i].y = bottom;
}

static void draw_labels(const struct picture *p)
{
	struct label labels[SVG_LANES];

	for (int i = 0; i < p->nr_lanes; i++) {
		const struct lane *l = p->lanes[i];

		labels[i].lane = i;
		labels[i].from = svg_y(p, l->birth + l->charged);
	}
	qsort(labels, p->nr_lanes, sizeof(*labels), by_height);
	spread(p, labels);
	for (int i = 0; i < p->nr_lanes; i++) {
		const struct lane *l = p->lanes[labels[i].lane];
		char class[40];

		fputs("<path class=\"leader ", p->f);
		svg_colour(p, 's', labels[i].lane);
		fprintf(p->f, "\" d=\"M%.1f %.1fL%d %.1fH%d\"/>\n",
			svg_x(p, l->died), labels[i].from, p->right + 10,
			labels[i].y, p->right + 16);
		snprintf(class, sizeof(class), " class=\"name f%d\"",
			 labels[i].lane);
		put_text(p, p->right + 20, labels[i].y + 4, class,
			 lane_label(p, l));
	}
}

static void draw_lane_labels(const struct picture *p)
{
	size_t left = p->m->nr_lanes - p->nr_lanes;

	put_text(p, SVG_LEFT, p->states - 8, " class=\"head\"",
		 left ? xprintf("states of the threads; %zu threads that ran less are not drawn",
				left) : xstrdup("states of the threads"));
	for (int i = 0; i < p->nr_lanes; i++) {
		const struct lane *l = p->lanes[i];
		double y = p->states + i * SVG_LANE_STEP + SVG_LANE - 2;
		char class[60];

		snprintf(class, sizeof(class),
			 " text-anchor=\"end\" class=\"name f%d\"",
			 i);
		put_text(p, SVG_LEFT - 8, y, class, lane_name(p, l));
		put_text(p, p->right + 20, y, "", ran_label(l));
	}
}

static void draw_lead_labels(const struct picture *p)
{
	const char *unit;

	draw_lines(p, &p->lead, 3, &unit);
	put_text(p, SVG_LEFT, p->leads - 8, " class=\"head\"",
		 xprintf("how far the CPU of a thread is ahead of the slowest CPU, %s",
			 unit));
	put_text(p, p->right + 20, svg_lead_y(p, p->m->window) + 4, "",
		 xstrdup("window"));
}

/* The key. Threads are not in it: each has a colour and label of its own. */
static void draw_key(const struct picture *p)
{
	double x = SVG_LEFT, y = p->lines - 22;
	static const struct {
		const char *class;
		int height;
		const char *text;
	} keys[] = {
		{ "run f9", SVG_LANE, "on a CPU" },
		{ "ready f9", SVG_LANE / 3, "waits for a CPU" },
		{ "life", 0, "blocked" },
		{ "gated", SVG_LANE, "gated" },
		{ "window", SVG_LANE, "window" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (i >= 3 && p->m->cpus < 2)
			break;
		if (keys[i].height)
			fprintf(p->f, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"%d\"/>\n",
				keys[i].class, x,
				y + (SVG_LANE - keys[i].height) / 2.0,
				keys[i].height);
		else
			fprintf(p->f, "<path class=\"%s\" d=\"M%.1f %.1fh22\"/>\n",
				keys[i].class, x, y + SVG_LANE / 2.0);
		put_text(p, x + 28, y + 10, "", xstrdup(keys[i].text));
		x += 48 + 6.8 * strlen(keys[i].text);
	}
	fprintf(p->f, "<path class=\"real\" d=\"M%.1f %.1fh22\"/>\n", x,
		y + SVG_LANE / 2.0);
	put_text(p, x + 28, y + 10, "", xstrdup("virtual = real"));
}

static char *command_line(const struct picture *p)
{
	char *line = xstrdup(""), *longer;

	for (char *const *arg = p->about->argv; *arg; arg++) {
		longer = xprintf("%s%s%s", line, *line ? " " : "", *arg);
		free(line);
		line = longer;
	}
	if (strlen(line) > TITLE_MAX)
		memcpy(line + TITLE_MAX - 3, "...", 4);
	return line;
}

static void draw_head(const struct picture *p)
{
	const struct model *m = p->m;
	char *virtual = time_text(m->virtual_end), *real = time_text(m->end);
	char *window = time_text(m->window), *machine = machine_text(&p->about->machine);

	put_text(p, SVG_LEFT, 28, " class=\"title\"", command_line(p));
	put_text(p, SVG_LEFT, 48, "",
		 xprintf("%zu thread%s on %s, %s virtual, %s real%s%s",
			 m->nr_lanes, m->nr_lanes == 1 ? "" : "s", machine, virtual, real,
			 m->cpus > 1 ? ", window " : "",
			 m->cpus > 1 ? window : ""));
	if (m->lost)
		put_text(p, SVG_LEFT, 68, " class=\"lost\"",
			 xprintf("%llu events were lost, and the end is missing. Use a larger --buffer.",
				 (unsigned long long)m->lost));
	free(virtual);
	free(real);
	free(window);
	free(machine);
}

static void draw_panels(const struct picture *p)
{
	fprintf(p->f, "<clipPath id=\"lines\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n<g clip-path=\"url(#lines)\">\n",
		SVG_LEFT - 4, p->lines, p->right - SVG_LEFT + 8, SVG_PLOT + 4);
	if (p->m->cpus > 1)
		svg_draw_window(p);
	draw_real(p);
	svg_draw_lines(p);
	fputs("</g>\n", p->f);
	svg_draw_states(p);
	if (p->leads)
		svg_draw_leads(p);
}

void trace_svg(FILE *f, const struct model *m, const struct trace_about *about)
{
	struct picture p = { .f = f, .m = m, .about = about };

	lay_out(&p);
	svg_begin(f, SVG_WIDTH, p.bottom + 52, style);
	draw_head(&p);
	draw_key(&p);
	draw_virtual_axis(&p);
	if (p.leads)
		draw_lead_labels(&p);
	draw_time_axis(&p);
	draw_panels(&p);
	draw_labels(&p);
	draw_lane_labels(&p);
	fprintf(f, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n",
		SVG_LEFT, p.lines, p.lines + SVG_PLOT, p.right);
	svg_end(f);
}
