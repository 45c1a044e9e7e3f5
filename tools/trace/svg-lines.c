// SPDX-License-Identifier: GPL-2.0
/* The panels with lines: how threads get on, and how far CPUs are ahead. */
#include "svg-lines.h"

#include <math.h>
#include <stdlib.h>

#include "svg-lanes.h"
#include "base/util.h"

/* The largest error of a simplified line, in units of the picture. */
#define TOLERANCE	0.06

/* A line through points, without those that nobody would see. */
struct line {
	FILE *f;
	bool open;
	double x, y;		/* written last */
	double last_x, last_y;	/* seen last */
	double steepest, flattest;	/* slopes that the line may have */
};

static void line_to(struct line *l, double x, double y)
{
	double dx = x - l->x, slope;

	if (!l->open) {
		fprintf(l->f, "M%.2f %.2f", x, y);
		l->open = true;
		goto written;
	}
	slope = dx > 0 ? (y - l->y) / dx : 0;
	if (dx > 0 && slope <= l->steepest && slope >= l->flattest) {
		l->steepest = fmin(l->steepest, (y + TOLERANCE - l->y) / dx);
		l->flattest = fmax(l->flattest, (y - TOLERANCE - l->y) / dx);
		l->last_x = x;
		l->last_y = y;
		return;
	}
	/* Through the last point that still fitted. */
	if (l->last_x > l->x) {
		fprintf(l->f, "L%.2f %.2f", l->last_x, l->last_y);
		l->x = l->last_x;
		l->y = l->last_y;
		l->steepest = HUGE_VAL;
		l->flattest = -HUGE_VAL;
		line_to(l, x, y);
		return;
	}
	fprintf(l->f, "L%.2f %.2f", x, y);
written:
	l->x = l->last_x = x;
	l->y = l->last_y = y;
	l->steepest = HUGE_VAL;
	l->flattest = -HUGE_VAL;
}

static void line_end(struct line *l)
{
	if (l->open && (l->last_x > l->x || l->last_y != l->y))
		fprintf(l->f, "L%.2f %.2f", l->last_x, l->last_y);
	l->open = false;
}

/* A thread's virtual time, its waits left out, as it goes along its pieces. */
struct walk {
	const struct lane *lane;
	size_t next;		/* piece */
	double virtual;		/* before it */
};

static double progress_at(struct walk *w, double time)
{
	const struct lane *l = w->lane;
	const struct piece *p;

	while (w->next < l->nr_pieces && l->pieces[w->next].end <= time)
		w->virtual += l->pieces[w->next++].charged;
	if (w->next == l->nr_pieces)
		return w->virtual;
	p = &l->pieces[w->next];
	if (p->begin >= time)
		return w->virtual;
	return w->virtual + (double)p->charged * (time - p->begin) /
			    (p->end - p->begin);
}

static struct walk walk_of(const struct lane *l)
{
	return (struct walk){ .lane = l, .virtual = l->birth };
}

static void draw_progress(const struct picture *p, const struct lane *l)
{
	struct line line = { .f = p->f };
	struct walk w = walk_of(l);
	double y = svg_y(p, l->birth);

	line_to(&line, svg_x(p, l->born), y);
	for (int i = 0; i < svg_samples(p); i++) {
		double time = svg_sample_time(p, i);

		if (time <= l->born || time >= l->died)
			continue;
		y = svg_y(p, progress_at(&w, time));
		line_to(&line, svg_x(p, time), y);
	}
	line_to(&line, svg_x(p, l->died), svg_y(p, l->birth + l->charged));
	line_end(&line);
}

/* A halo where the thread was gated, the stronger the more of the time. */
static void draw_gates(const struct picture *p, const struct lane *l)
{
	enum { LEVELS = 4 };
	float *part = xmalloc(svg_samples(p) * sizeof(*part));

	svg_cover(p, l, PIECE_GATED, part);
	for (int level = 1; level <= LEVELS; level++) {
		struct line line = { .f = p->f };
		struct walk w = walk_of(l);
		bool any = false;

		for (int i = 0; i < svg_samples(p) - 1; i++) {
			double from = svg_sample_time(p, i);
			double y = svg_y(p, progress_at(&w, from));

			if (lroundf(ceilf(part[i] * LEVELS - 0.01f)) != level) {
				line_end(&line);
				continue;
			}
			if (!any)
				fprintf(p->f, "<path class=\"halo\" stroke-opacity=\"%.2f\" d=\"",
					0.5 * level / LEVELS);
			any = true;
			if (!line.open)
				line_to(&line, svg_x(p, from), y);
			from = svg_sample_time(p, i + 1);
			line_to(&line, svg_x(p, from),
				    svg_y(p, progress_at(&w, from)));
		}
		line_end(&line);
		if (any)
			fputs("\"/>\n", p->f);
	}
	free(part);
}

void svg_draw_lines(const struct picture *p)
{
	for (int i = 0; i < p->nr_lanes; i++)
		draw_gates(p, p->lanes[i]);
	for (int i = p->nr_lanes; i-- > 0;) {
		fputs("<path class=\"line ", p->f);
		svg_colour(p, 's', i);
		fputs("\" d=\"", p->f);
		draw_progress(p, p->lanes[i]);
		fputs("\"/>\n", p->f);
	}
}

/* GVT at each sample, as last seen by then. The caller frees it. */
static double *sample_gvt(const struct picture *p)
{
	double *gvt = xmalloc(svg_samples(p) * sizeof(*gvt));
	const struct model *m = p->m;
	size_t next = 0;

	for (int i = 0; i < svg_samples(p); i++) {
		while (next < m->nr_gvt &&
		       m->gvt[next].time <= svg_sample_time(p, i))
			next++;
		gvt[i] = next ? m->gvt[next - 1].ns : 0;
	}
	return gvt;
}

static void edge(const struct picture *p, int i, double virtual)
{
	fprintf(p->f, "%.1f %.1f ", svg_x(p, svg_sample_time(p, i)),
		svg_y(p, fmin(virtual, p->virtual.high)));
}

/* From GVT to where a CPU's threads are gated. */
void svg_draw_window(const struct picture *p)
{
	double *gvt = sample_gvt(p);
	int n = svg_samples(p);

	fputs("<polygon class=\"window\" points=\"", p->f);
	for (int i = 0; i < n; i += SVG_FINE)
		edge(p, i, gvt[i]);
	for (int i = (n - 1) / SVG_FINE * SVG_FINE; i >= 0; i -= SVG_FINE)
		edge(p, i, gvt[i] + p->m->window);
	fputs("\"/>\n", p->f);
	free(gvt);
}

/* Is the thread at a gate, or has it left the gate and waits for a CPU? */
static bool is_gate(const struct lane *l, size_t piece)
{
	return l->pieces[piece].kind == PIECE_GATED ||
	       (l->pieces[piece].kind == PIECE_READY && piece &&
		l->pieces[piece - 1].kind == PIECE_GATED);
}

/* Does the thread leave its CPU between two charges, other than for a gate? */
static bool is_apart(const struct lane *l, size_t *piece, uint64_t from,
		     uint64_t to)
{
	bool apart = false;

	while (*piece < l->nr_pieces && l->pieces[*piece].begin < to) {
		const struct piece *p = &l->pieces[*piece];

		if (p->end > from && p->kind != PIECE_RUN && !is_gate(l, *piece))
			apart = true;
		if (p->end > to)
			break;
		(*piece)++;
	}
	return apart;
}

/* Draws the highest lead of each sample. */
static void draw_lane_leads(const struct picture *p, const struct lane *l)
{
	struct line line = { .f = p->f };
	double step = svg_sample_time(p, 1);
	size_t piece = 0;

	for (size_t i = 0; i < l->nr_leads; i++) {
		uint64_t ns = l->leads[i].ns, time = l->leads[i].time;
		size_t first = i;

		while (i + 1 < l->nr_leads &&
		       l->leads[i + 1].time < time + 2 * step) {
			i++;
			if (l->leads[i].ns > ns)
				ns = l->leads[i].ns;
		}
		if (first && is_apart(l, &piece, l->leads[first - 1].time, time))
			line_end(&line);
		line_to(&line, svg_x(p, time), svg_lead_y(p, ns));
	}
	line_end(&line);
}

void svg_draw_leads(const struct picture *p)
{
	double y = svg_lead_y(p, p->m->window);

	fprintf(p->f, "<rect class=\"window\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n",
		SVG_LEFT, y, p->right - SVG_LEFT, p->leads + SVG_LEADS - y);
	for (int i = p->nr_lanes; i-- > 0;) {
		fputs("<path class=\"line thin ", p->f);
		svg_colour(p, 's', i);
		fputs("\" d=\"", p->f);
		draw_lane_leads(p, p->lanes[i]);
		fputs("\"/>\n", p->f);
	}
}
