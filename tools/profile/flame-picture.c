// SPDX-License-Identifier: GPL-2.0
/* A flame graph whose cells have the colour of what their functions gain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/drawing.h"
#include "base/util.h"
#include "output.h"
#include "words.h"

#define WIDTH	1000.0
#define ROW	20

static const char script[] =
#include "profile/flame.js.h"
;

struct cell {
	const char *name;
	size_t candidate, depth;
	double ns, x, free;	/* the next child begins at free */
};

struct graph {
	struct cell *cells;
	size_t count, depth;
	double ns, free;
};

/* Sets the place of a cell behind earlier ones of its parent. False: a wrong tree. */
static bool place(struct graph *g, const json_t *node, struct cell *c)
{
	const json_t *parent = json_object_get(node, "parent");
	const json_t *candidate = json_object_get(node, "candidate");
	json_int_t at = json_integer_value(parent);
	double *free = &g->free;

	*c = (struct cell){
		.name = json_string_value(json_object_get(node, "name")),
		.ns = json_number_value(json_object_get(node, "ns")),
	};
	c->candidate = json_is_integer(candidate) ? (size_t)json_integer_value(candidate) : SIZE_MAX;
	if (!c->name || !(c->ns >= 0))
		return false;
	if (json_is_integer(parent)) {
		if (at < 0 || (size_t)at >= g->count)
			return false;
		free = &g->cells[at].free;
		c->depth = g->cells[at].depth + 1;
	}
	c->x = *free;
	c->free = c->x;
	*free += c->ns;
	return true;
}

static bool read_tree(struct graph *g, const json_t *tree)
{
	json_t *node;
	size_t i;

	*g = (struct graph){ .cells = xmalloc((json_array_size(tree) + 1) * sizeof(*g->cells)) };
	json_array_foreach(tree, i, node) {
		struct cell *c = &g->cells[i];

		if (!place(g, node, c))
			return false;
		g->count++;
		if (c->depth >= g->depth)
			g->depth = c->depth + 1;
	}
	g->ns = g->free;
	return g->ns > 0 && isfinite(g->ns);
}

static const struct profile_row *row_of(const struct profile *p, const struct cell *cell)
{
	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (p->answer.rows[i].candidate == cell->candidate &&
		    isfinite(profile_shown_gain(&p->answer.rows[i], PROFILE_HALF)->value))
			return &p->answer.rows[i];
	return NULL;
}

static double most_gain(const struct profile *p)
{
	double most = 0;

	for (size_t i = 0; i < p->answer.nr_rows; i++)
		if (p->answer.rows[i].gain[PROFILE_HALF].low > 0)
			most = fmax(most, p->answer.rows[i].gain[PROFILE_HALF].value);
	return most;
}

static void draw_cell(FILE *f, const struct graph *g, const struct cell *c,
		      const struct profile_row *row, double most)
{
	const struct interval *gain = row ? &row->gain[PROFILE_HALF] : NULL;
	bool pays = gain && gain->low > 0;

	fprintf(f, "<svg class=\"cell %s\" x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\"><title>",
		pays ? "pays" : row ? "tried" : "untried", c->x / g->ns * WIDTH, c->depth * ROW,
		c->ns / g->ns * WIDTH, ROW - 1);
	xml_text(f, c->name);
	fprintf(f, ": %.1f %% of the time", 100 * c->ns / g->ns);
	if (gain)
		fprintf(f, "; at half its time the program gains %+.2f %% [%+.2f %+.2f]",
			gain->value, gain->low, gain->high);
	fputs("</title><rect width=\"100%\" height=\"100%\" rx=\"2\"", f);
	if (pays)
		fprintf(f, " fill-opacity=\"%.2f\"", 0.25 + 0.6 * gain->value / most);
	fputs("/><text x=\"4\" y=\"14\">", f);
	xml_text(f, c->name);
	fputs("</text></svg>\n", f);
}

bool profile_has_flame(const struct profile *p)
{
	struct graph g;
	bool has = read_tree(&g, p->stacks);

	free(g.cells);
	return has;
}

void profile_flame(FILE *f, const struct profile *p)
{
	double most = most_gain(p);
	struct graph g;

	if (read_tree(&g, p->stacks)) {
		fprintf(f, "<svg class=\"flame\" viewBox=\"0 0 %g %zu\" role=\"img\" aria-label=\"Functions and what they call\">\n",
			WIDTH, g.depth * ROW);
		for (size_t i = 0; i < g.count; i++)
			draw_cell(f, &g, &g.cells[i], row_of(p, &g.cells[i]), most);
		fprintf(f, "</svg>\n<script>\n%s</script>\n", script);
	}
	free(g.cells);
}
