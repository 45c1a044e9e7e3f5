// SPDX-License-Identifier: GPL-2.0
/* Compares nodes that a fake cluster has, of different speeds and with different gains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "base/util.h"
#include "whatif/nodes.h"

struct node {
	const char *name;
	double speed;		/* factor of each metric */
	double gain;		/* of the varied runs, in percent */
	double noise;		/* standard deviation of a run, in percent */
};

static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return ((state >> 11) + 0.5) / (1ULL << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Condition 0 is the baseline, 1 the null experiment, and each further one gains more. */
static struct whatif_sample run(const struct node *node, size_t condition)
{
	double percent = node->noise * normal() -
			 (condition > 1 ? node->gain * (condition - 1) : 0);

	return (struct whatif_sample){
		.round = 1, .condition = condition,
		.metric = node->speed * exp(percent / 100),
	};
}

/* Complete rounds, as of whatif. Round 0 is far off. */
static void measure(struct whatif_nodes *nodes, const struct node *node, size_t conditions,
		    unsigned int rounds)
{
	struct whatif_sample list[200];
	struct whatif_samples samples = { .list = list };

	for (unsigned int round = 0; round <= rounds; round++) {
		for (size_t c = 0; c < conditions; c++) {
			struct whatif_sample *s = &list[samples.count++];

			*s = run(node, c);
			s->round = round;
			s->metric *= round ? 1 : 50;
		}
	}
	whatif_nodes_add(nodes, node->name, 0, &samples);
}

/* Runs of two groups that are dealt to nodes by chance, as of profile. */
static void deal(struct whatif_nodes *nodes, const struct node *list, size_t count,
		 unsigned int runs)
{
	for (unsigned int i = 0; i < runs; i++) {
		struct whatif_sample s;
		struct whatif_samples samples = { .list = &s, .count = 1 };
		const struct node *node = &list[(size_t)(uniform() * count)];

		s = run(node, 1 + (size_t)(uniform() * 3));
		whatif_nodes_add(nodes, node->name, uniform() < 0.7, &samples);
	}
}

static void test_speeds(void)
{
	const struct node list[] = {
		{ "slow", 3, 10, 0.5 }, { "fast", 1, 10, 0.5 }, { "middle", 1.7, 10, 0.5 },
	};
	struct whatif_nodes nodes = { 0 };
	struct node_difference *d;

	for (size_t i = 0; i < 3; i++)
		measure(&nodes, &list[i], 4, 8);
	d = whatif_nodes_compare(&nodes);
	is_i64(nodes.count, 3, "three nodes");
	for (size_t i = 0; i < 3; i++) {
		ok(fabs(d[i].points) < 1, "a node of another speed predicts the same");
		ok(d[i].p > 0.001, "and chance explains the difference");
	}
	free(d);
	whatif_nodes_free(&nodes);
}

static void test_disagreement(void)
{
	const struct node list[] = {
		{ "a", 1, 10, 0.5 }, { "b", 2, 10, 0.5 }, { "odd", 1, 4, 0.5 },
		{ "c", 1, 10, 0.5 },
	};
	struct whatif_nodes nodes = { 0 };
	struct node_difference *d;

	for (size_t i = 0; i < 4; i++)
		measure(&nodes, &list[i], 4, 8);
	d = whatif_nodes_compare(&nodes);
	/*
	 * Conditions 2 and 3 gain 6 and 12 points less, where a run takes about 0.87 of
	 * the time of a null run: 0.87 * (exp(0.09) - 1).
	 */
	ok(fabs(d[2].points - 8.2) < 0.8, "a node differs by 8 points");
	ok(d[2].p < 1e-6, "chance does not explain the difference");
	for (size_t i = 0; i < 4; i++)
		if (i != 2)
			ok(fabs(d[i].points) < fabs(d[2].points) / 2,
			   "each other node differs less: only because the odd one is in its comparison");
	free(d);
	whatif_nodes_free(&nodes);
}

/* Returns how many of some clusters have a node that chance would seldom make differ. */
static unsigned int count_alarms(const struct node *list, size_t count,
				 unsigned int dealt, unsigned int rounds)
{
	unsigned int alarms = 0;

	for (unsigned int cluster = 0; cluster < 300; cluster++) {
		struct whatif_nodes nodes = { 0 };
		struct node_difference *d;
		bool alarm = false;

		if (dealt)
			deal(&nodes, list, count, dealt);
		for (size_t i = 0; i < count && !dealt; i++)
			measure(&nodes, &list[i], 4, rounds);
		d = whatif_nodes_compare(&nodes);
		for (size_t i = 0; i < nodes.count; i++)
			alarm = alarm || d[i].p < 0.01;
		alarms += alarm;
		free(d);
		whatif_nodes_free(&nodes);
	}
	return alarms;
}

/* At p < 0.01, 3 of 300 clusters are expected, and more than 12 once in 10^4 times. */
static void test_alarms(void)
{
	static const struct node speeds[] = {
		{ "a", 1, 10, 1 }, { "b", 1.3, 10, 1 }, { "c", 1.6, 10, 1 }, { "d", 2, 10, 1 },
	};
	struct node noisy[8];
	unsigned int alarms;

	state = 1;
	alarms = count_alarms(speeds, 3, 100, 0);
	ok(alarms <= 12, "no false alarm if chance deals the runs to nodes of other speeds: %u",
	   alarms);
	alarms = count_alarms(speeds, 4, 400, 0);
	ok(alarms <= 12, "nor with more runs: %u", alarms);
	for (int i = 0; i < 8; i++) {
		static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

		noisy[i] = (struct node){ names[i], 1, 10, i ? 0.3 : 8 };
	}
	alarms = count_alarms(noisy, 8, 0, 6);
	ok(alarms <= 12, "nor because a node is noisier than the others: %u", alarms);
}

static void test_few(void)
{
	struct whatif_nodes nodes = { 0 };
	struct whatif_sample s = { .round = 1, .condition = 1, .metric = 1 };
	struct whatif_samples samples = { .list = &s, .count = 1 };
	const struct node one = { "only", 1, 10, 1 };
	struct node_difference *d = whatif_nodes_compare(&nodes);

	free(d);
	measure(&nodes, &one, 4, 8);
	d = whatif_nodes_compare(&nodes);
	ok(isnan(d[0].points) && isnan(d[0].p), "one node has nothing to differ from");
	free(d);
	whatif_nodes_add(&nodes, "null", 0, &samples);
	s.condition = 2;
	whatif_nodes_add(&nodes, "varied", 0, &samples);
	s.metric = 0;
	whatif_nodes_add(&nodes, "zero", 0, &samples);
	d = whatif_nodes_compare(&nodes);
	is_i64(nodes.count, 4, "nodes with hardly any runs");
	for (size_t i = 0; i < 4; i++)
		ok(isnan(d[i].p), "have nothing to differ in");
	free(d);
	whatif_nodes_judge(&nodes, 1);
	whatif_nodes_free(&nodes);
}

int main(void)
{
	state = 7;
	test_speeds();
	test_disagreement();
	test_alarms();
	test_few();
	return done();
}
