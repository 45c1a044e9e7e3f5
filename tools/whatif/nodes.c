// SPDX-License-Identifier: GPL-2.0
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

struct node_run {
	char *node;
	size_t group, condition;
	double value;		/* logarithm of the metric, in percent */
};

/* The runs of a condition on a node, or on all others. */
struct sum {
	double n, sum;
};

void whatif_nodes_add(struct whatif_nodes *nodes, const char *node, size_t group,
		      const struct whatif_samples *samples)
{
	for (size_t i = 0; i < samples->count; i++) {
		const struct whatif_sample *s = &samples->list[i];

		if (!s->round || s->condition == BASELINE || !(s->metric > 0))
			continue;
		nodes->list = xrealloc(nodes->list, (nodes->count + 1) *
						    sizeof(*nodes->list));
		nodes->list[nodes->count++] = (struct node_run){
			.node = xstrdup(node), .group = group,
			.condition = s->condition, .value = 100 * log(s->metric),
		};
	}
}

static bool is_same_cell(const struct node_run *a, const struct node_run *b)
{
	return a->group == b->group && a->condition == b->condition;
}

/* The sums of the run's condition: on its node or on all others. */
static struct sum sum_of(const struct whatif_nodes *nodes, const struct node_run *run,
			 bool others)
{
	struct sum sum = { 0 };

	for (size_t i = 0; i < nodes->count; i++) {
		const struct node_run *r = &nodes->list[i];

		if (is_same_cell(r, run) && (strcmp(r->node, run->node) != 0) == others) {
			sum.n++;
			sum.sum += r->value;
		}
	}
	return sum;
}

/* Is it the first run of its condition on its node? */
static bool is_first(const struct whatif_nodes *nodes, size_t index)
{
	const struct node_run *run = &nodes->list[index];

	for (size_t i = 0; i < index; i++)
		if (is_same_cell(&nodes->list[i], run) &&
		    !strcmp(nodes->list[i].node, run->node))
			return false;
	return true;
}

/*
 * Returns the variance of runs within a node and condition, pooled, and its degrees of
 * freedom.
 */
static double variance(const struct whatif_nodes *nodes, double *df)
{
	double squares = 0;

	*df = 0;
	for (size_t i = 0; i < nodes->count; i++) {
		struct sum own = sum_of(nodes, &nodes->list[i], false);
		double off = nodes->list[i].value - own.sum / own.n;

		squares += off * off;
		*df += 1 - is_first(nodes, i);
	}
	return *df > 0 ? squares / *df : NAN;
}

/* Sums the differences between one node's runs and the other nodes' runs. */
struct difference_sum {
	double weight;		/* runs */
	double sum;
	double spread;		/* variance of sum, in units of the variance of one run */
};

static void add_condition(struct difference_sum *part, struct sum own, struct sum others)
{
	part->weight += own.n;
	part->sum += own.n * (own.sum / own.n - others.sum / others.n);
	part->spread += own.n * own.n * (1 / own.n + 1 / others.n);
}

static void compare(const struct whatif_nodes *nodes, double squared, double df,
		    struct node_difference *d)
{
	struct difference_sum null = { 0 }, varied = { 0 };
	double error;

	for (size_t i = 0; i < nodes->count; i++) {
		const struct node_run *run = &nodes->list[i];
		struct sum others;

		if (strcmp(run->node, d->node) != 0 || !is_first(nodes, i))
			continue;
		others = sum_of(nodes, run, true);
		if (others.n > 0)
			add_condition(run->condition == NULL_RUNS ? &null : &varied,
				      sum_of(nodes, run, false), others);
	}
	d->points = varied.sum / varied.weight - null.sum / null.weight;
	error = sqrt(squared * (varied.spread / varied.weight / varied.weight +
				null.spread / null.weight / null.weight));
	d->p = 2 * gsl_cdf_tdist_Q(fabs(d->points) / error, df);
}

static size_t find_nodes(const struct whatif_nodes *nodes,
			 struct node_difference **differences)
{
	struct node_difference *list = NULL;
	size_t n = 0, k;

	for (size_t i = 0; i < nodes->count; i++) {
		for (k = 0; k < n && strcmp(list[k].node, nodes->list[i].node) != 0; k++)
			;
		if (k < n)
			continue;
		list = xrealloc(list, (n + 1) * sizeof(*list));
		list[n++] = (struct node_difference){
			.node = nodes->list[i].node, .points = NAN, .p = NAN,
		};
	}
	*differences = list;
	return n;
}

size_t whatif_nodes_compare(const struct whatif_nodes *nodes,
			    struct node_difference **differences)
{
	size_t n = find_nodes(nodes, differences);
	double df, squared = variance(nodes, &df);

	if (n < 2 || !(df > 0) || !(squared > 0))
		return n;
	for (size_t i = 0; i < n; i++) {
		struct node_difference *d = &(*differences)[i];

		compare(nodes, squared, df, d);
		d->p = d->p * n > 1 ? 1 : d->p * n;
	}
	return n;
}

void whatif_nodes_judge(const struct whatif_nodes *nodes, double precision)
{
	struct node_difference *list;
	size_t n = whatif_nodes_compare(nodes, &list);

	/* Two nodes differ from each other: which one is wrong is not known. */
	for (size_t i = n == 2 ? 1 : 0; i < n; i++) {
		if (!(list[i].p < RARE) || !(fabs(list[i].points) > precision))
			continue;
		if (n == 2)
			warn("--engine slurm: nodes %s and %s disagree: their predictions are %.1f points apart: leave one out with --engine slurm:exclude=NODE",
			     list[0].node, list[1].node, fabs(list[i].points));
		else
			warn("--engine slurm: node %s disagrees: its predictions are %.1f points off those of the other nodes: --engine slurm:exclude=%s leaves it out",
			     list[i].node, fabs(list[i].points), list[i].node);
	}
	free(list);
}

void whatif_nodes_free(struct whatif_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++)
		free(nodes->list[i].node);
	free(nodes->list);
}
