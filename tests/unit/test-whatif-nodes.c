// SPDX-License-Identifier: GPL-2.0
/* Compares nodes that a fake cluster has, of different speeds and with different gains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "base/util.h"
#include "whatif/nodes.h"

#define ROUNDS	8

struct node {
	const char *name;
	double speed;		/* factor of each metric */
	double gain;		/* of the varied runs, in percent */
};

/* The same scatter on each run: half of a percent, one way and the other. */
static double scatter(unsigned int round, size_t condition, size_t salt)
{
	return (round * 7 + condition * 5 + salt * 3) % 4 < 2 ? 0.5 : -0.5;
}

/* A baseline, null and two varied conditions; round 0 is far off. */
static void measure(struct whatif_nodes *nodes, const struct node *node, size_t group,
		    size_t conditions)
{
	struct whatif_sample list[(ROUNDS + 1) * 4];
	struct whatif_samples samples = { .list = list, .per_round = conditions };

	for (unsigned int round = 0; round <= ROUNDS; round++) {
		for (size_t c = 0; c < conditions; c++) {
			double percent = scatter(round, c, strlen(node->name)) -
					 (c > 1 ? node->gain * (c - 1) : 0);

			list[samples.count++] = (struct whatif_sample){
				.round = round, .condition = c,
				.metric = node->speed * exp(percent / 100) *
					  (round ? 1 : 50),
			};
		}
	}
	whatif_nodes_add(nodes, node->name, group, &samples);
}

static struct node_difference *compare(const struct node *list, size_t n, size_t groups,
				       size_t *count)
{
	struct whatif_nodes nodes = { 0 };
	struct node_difference *d;

	for (size_t g = 0; g < groups; g++)
		for (size_t i = 0; i < n; i++)
			measure(&nodes, &list[i], g, 4);
	*count = whatif_nodes_compare(&nodes, &d);
	/* whatif_nodes_free() frees the names. */
	for (size_t i = 0; i < *count; i++)
		d[i].node = NULL;
	whatif_nodes_free(&nodes);
	return d;
}

static void test_speeds(void)
{
	const struct node list[] = {
		{ "slow", 3, 10 }, { "fast", 1, 10 }, { "middle", 1.7, 10 },
	};
	struct node_difference *d;
	size_t n;

	d = compare(list, 3, 2, &n);
	ok(n == 3, "three nodes");
	for (size_t i = 0; i < n; i++) {
		ok(fabs(d[i].points) < 0.5, "a node of another speed predicts the same");
		ok(d[i].p > 0.01, "and chance explains the difference");
	}
	free(d);
}

static void test_disagreement(void)
{
	const struct node list[] = {
		{ "a", 1, 10 }, { "b", 2, 10 }, { "odd", 1, 4 }, { "cc", 1, 10 },
	};
	struct node_difference *d;
	size_t n;

	d = compare(list, 4, 1, &n);
	ok(n == 4, "four nodes");
	/* Conditions 2 and 3 gain 6 and 12 points less. */
	ok(fabs(d[2].points - 9) < 0.5, "a node differs by 9 points");
	ok(d[2].p < 1e-6, "chance does not explain the difference");
	for (size_t i = 0; i < n; i++)
		if (i != 2)
			ok(fabs(d[i].points) < fabs(d[2].points) / 2,
			   "each other node differs less: only because the odd one is in its comparison");
	free(d);
}

static void test_few(void)
{
	const struct node one = { "only", 1, 10 };
	struct whatif_nodes nodes = { 0 };
	struct whatif_sample s = { .round = 1, .condition = 1, .metric = 1 };
	struct whatif_samples samples = { .list = &s, .count = 1 };
	struct node_difference *d;
	size_t n;

	ok(whatif_nodes_compare(&nodes, &d) == 0, "no runs, no nodes");
	free(d);
	d = compare(&one, 1, 1, &n);
	ok(n == 1 && isnan(d->p), "one node has nothing to differ from");
	free(d);
	whatif_nodes_add(&nodes, "a", 0, &samples);
	whatif_nodes_add(&nodes, "b", 0, &samples);
	s.metric = 0;
	whatif_nodes_add(&nodes, "zero", 0, &samples);
	n = whatif_nodes_compare(&nodes, &d);
	ok(n == 2 && isnan(d[0].p), "two runs are too few, and a metric of 0 does not count");
	free(d);
	whatif_nodes_judge(&nodes, 1);
	whatif_nodes_free(&nodes);
}

/* A node that ran only null runs, or only varied ones, tells nothing. */
static void test_incomplete(void)
{
	const struct node nodes_of[] = { { "a", 1, 10 }, { "b", 1, 10 } };
	const struct node null_only = { "null", 1, 10 };
	struct whatif_nodes nodes = { 0 };
	struct node_difference *d;
	size_t n;

	measure(&nodes, &nodes_of[0], 0, 4);
	measure(&nodes, &nodes_of[1], 0, 4);
	measure(&nodes, &null_only, 0, 2);
	n = whatif_nodes_compare(&nodes, &d);
	ok(n == 3 && !(d[2].p < 1), "a node without varied runs is not judged");
	ok(d[0].p > 0.01, "the others are");
	free(d);
	whatif_nodes_judge(&nodes, 1);
	whatif_nodes_free(&nodes);
}

int main(void)
{
	test_speeds();
	test_disagreement();
	test_few();
	test_incomplete();
	return done();
}
