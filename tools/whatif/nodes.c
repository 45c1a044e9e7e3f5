// SPDX-License-Identifier: GPL-2.0
/*
 * The change of a condition on a node is the mean logarithm of its metric, less that of
 * the node's null runs: the node's speed is in both. Less the mean change of all nodes under
 * that condition, it is an excess. The excess of a node is the mean of these, weighted by its
 * varied runs. Welch's test compares it with the mean excess of the other nodes: B. L. Welch,
 * "The generalization of 'Student's' problem when several different population variances are
 * involved", Biometrika 34, 1947. Each node has its own variance, since some are noisier.
 */
#include "nodes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/util.h"

/* A plan begins with the baseline and the null experiment. */
#define BASELINE	0
#define NULL_RUNS	1

/* Tense names a node if p is below this. */
#define RARE	0.001

/* Logarithms in percent. */
struct moments {
	double n, sum, squares;
};

struct node_cell {
	size_t group, condition;
	struct moments *of;	/* of each node */
};

static size_t find_node(struct whatif_nodes *nodes, const char *name)
{
	size_t n = 0;

	while (n < nodes->count && strcmp(nodes->names[n], name) != 0)
		n++;
	if (n < nodes->count)
		return n;
	nodes->names = xrealloc(nodes->names, ++nodes->count * sizeof(*nodes->names));
	nodes->names[n] = xstrdup(name);
	for (size_t i = 0; i < nodes->nr_cells; i++) {
		struct node_cell *cell = &nodes->cells[i];

		cell->of = xrealloc(cell->of, nodes->count * sizeof(*cell->of));
		cell->of[n] = (struct moments){ 0 };
	}
	return n;
}

static struct node_cell *seek_cell(const struct whatif_nodes *nodes, size_t group,
				   size_t condition)
{
	for (size_t i = 0; i < nodes->nr_cells; i++)
		if (nodes->cells[i].group == group &&
		    nodes->cells[i].condition == condition)
			return &nodes->cells[i];
	return NULL;
}

static struct node_cell *find_cell(struct whatif_nodes *nodes, size_t group,
				   size_t condition)
{
	struct node_cell *cell = seek_cell(nodes, group, condition);

	if (cell)
		return cell;
	nodes->cells = xrealloc(nodes->cells, (nodes->nr_cells + 1) *
					      sizeof(*nodes->cells));
	cell = &nodes->cells[nodes->nr_cells++];
	*cell = (struct node_cell){
		.group = group, .condition = condition,
		.of = xmalloc(nodes->count * sizeof(*cell->of)),
	};
	for (size_t i = 0; i < nodes->count; i++)
		cell->of[i] = (struct moments){ 0 };
	return cell;
}

void whatif_nodes_add(struct whatif_nodes *nodes, const char *node, size_t group,
		      const struct whatif_samples *samples)
{
	size_t n = find_node(nodes, node);

	for (size_t i = 0; i < samples->count; i++) {
		const struct whatif_sample *s = &samples->list[i];
		double value = 100 * log(s->metric);
		struct moments *m;

		if (!s->round || s->condition == BASELINE || !(s->metric > 0))
			continue;
		m = &find_cell(nodes, group, s->condition)->of[n];
		m->n++;
		m->sum += value;
		m->squares += value * value;
	}
}

static double mean(const struct moments *m)
{
	return m->sum / m->n;
}

/* The node's null runs of a group, or NULL if it has none. */
static const struct moments *null_of(const struct whatif_nodes *nodes,
				     const struct node_cell *cell, size_t node)
{
	const struct node_cell *null = seek_cell(nodes, cell->group, NULL_RUNS);

	return null && null->of[node].n > 0 ? &null->of[node] : NULL;
}

/* The change of a condition on a node. NAN if the node lacks runs. */
static double change(const struct whatif_nodes *nodes, const struct node_cell *cell,
		     size_t node)
{
	const struct moments *null = null_of(nodes, cell, node);

	if (cell->condition == NULL_RUNS || !null || !(cell->of[node].n > 0))
		return NAN;
	return mean(&cell->of[node]) - mean(null);
}

/* The mean change of a condition over the runs of all nodes. */
static double common_change(const struct whatif_nodes *nodes, const struct node_cell *cell)
{
	double n = 0, sum = 0;

	for (size_t i = 0; i < nodes->count; i++) {
		double c = change(nodes, cell, i);

		if (isnan(c))
			continue;
		n += cell->of[i].n;
		sum += cell->of[i].n * c;
	}
	return sum / n;
}

/* The variance of a node's runs under the same condition, and its degrees of freedom. */
static double variance(const struct whatif_nodes *nodes, size_t node, double *df)
{
	double squares = 0;

	*df = 0;
	for (size_t i = 0; i < nodes->nr_cells; i++) {
		const struct moments *m = &nodes->cells[i].of[node];

		if (m->n > 1) {
			squares += m->squares - m->sum * mean(m);
			*df += m->n - 1;
		}
	}
	return squares / *df;
}

/* A node's excess in percent of a run's time, and the variance of that. */
struct node_excess {
	double excess, variance, df;
	double level;		/* mean logarithm, in percent, of a varied run to a null run */
};

/* Null runs of a group are in the change of each of its conditions. */
static double null_variance(const struct whatif_nodes *nodes, size_t node, double runs)
{
	double sum = 0;

	for (size_t i = 0; i < nodes->nr_cells; i++) {
		const struct node_cell *null = &nodes->cells[i];
		double varied = 0;

		if (null->condition != NULL_RUNS || !(null->of[node].n > 0))
			continue;
		for (size_t k = 0; k < nodes->nr_cells; k++)
			if (nodes->cells[k].group == null->group &&
			    nodes->cells[k].condition != NULL_RUNS)
				varied += nodes->cells[k].of[node].n;
		sum += varied / runs * (varied / runs) / null->of[node].n;
	}
	return sum;
}

static struct node_excess excess_of(const struct whatif_nodes *nodes,
				    const double *common, size_t node)
{
	struct node_excess result = { 0 };
	double runs = 0;

	for (size_t i = 0; i < nodes->nr_cells; i++) {
		const struct node_cell *cell = &nodes->cells[i];
		double c = change(nodes, cell, node);

		if (isnan(c))
			continue;
		runs += cell->of[node].n;
		result.excess += cell->of[node].n * (c - common[i]);
		result.level += cell->of[node].n * common[i];
	}
	result.excess /= runs;
	result.level /= runs;
	result.variance = variance(nodes, node, &result.df) *
			  (1 / runs + null_variance(nodes, node, runs));
	return result;
}

static bool is_known(const struct node_excess *c)
{
	return c->df > 0 && c->variance > 0 && !isnan(c->excess);
}

static struct node_difference compare(const struct node_excess *list, size_t count,
				      size_t node)
{
	double others = 0, sum = 0, spread = 0, squares = 0, difference, all;
	struct node_difference d = { NAN, NAN };

	for (size_t i = 0; i < count; i++) {
		if (i == node || !is_known(&list[i]))
			continue;
		others++;
		sum += list[i].excess;
		spread += list[i].variance;
		squares += list[i].variance * list[i].variance / list[i].df;
	}
	if (!others || !is_known(&list[node]))
		return d;
	difference = list[node].excess - sum / others;
	spread /= others * others;
	squares /= pow(others, 4);
	all = list[node].variance + spread;
	squares += list[node].variance * list[node].variance / list[node].df;
	d.points = 100 * exp(list[node].level / 100) * expm1(difference / 100);
	d.p = 2 * gsl_cdf_tdist_Q(fabs(difference) / sqrt(all), all * all / squares);
	d.p = fmin(1, d.p * (others + 1));
	return d;
}

struct node_difference *whatif_nodes_compare(const struct whatif_nodes *nodes)
{
	struct node_difference *d = xmalloc((nodes->count + 1) * sizeof(*d));
	struct node_excess *list = xmalloc((nodes->count + 1) * sizeof(*list));
	double *common = xmalloc((nodes->nr_cells + 1) * sizeof(*common));

	for (size_t i = 0; i < nodes->nr_cells; i++)
		common[i] = common_change(nodes, &nodes->cells[i]);
	for (size_t i = 0; i < nodes->count; i++)
		list[i] = excess_of(nodes, common, i);
	for (size_t i = 0; i < nodes->count; i++)
		d[i] = compare(list, nodes->count, i);
	free(common);
	free(list);
	return d;
}

static bool disagrees(const struct node_difference *d, double precision)
{
	return d->p < RARE && fabs(d->points) > precision;
}

void whatif_nodes_judge(const struct whatif_nodes *nodes, double precision)
{
	struct node_difference *d = whatif_nodes_compare(nodes);

	/* Two nodes differ from each other: which one is wrong is not known. */
	if (nodes->count == 2 && disagrees(&d[0], precision))
		warn("--engine slurm: nodes %s and %s disagree: their predictions are %.1f points apart: leave one out with --engine slurm:exclude=NODE",
		     nodes->names[0], nodes->names[1], fabs(d[0].points));
	for (size_t i = 0; i < nodes->count && nodes->count > 2; i++)
		if (disagrees(&d[i], precision))
			warn("--engine slurm: node %s disagrees: its predictions are %.1f points off those of the other nodes: --engine slurm:exclude=%s leaves it out",
			     nodes->names[i], fabs(d[i].points), nodes->names[i]);
	free(d);
}

void whatif_nodes_free(struct whatif_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++)
		free(nodes->names[i]);
	for (size_t i = 0; i < nodes->nr_cells; i++)
		free(nodes->cells[i].of);
	free(nodes->names);
	free(nodes->cells);
}
