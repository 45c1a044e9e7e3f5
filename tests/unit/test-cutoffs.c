// SPDX-License-Identifier: GPL-2.0
/* Cutoffs of daemons: each rule by itself, with numbers worked out by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cutoffs.h"
#include "tap.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define NONE		NAN

static bool same(double got, double expected)
{
	return isnan(expected) ? isnan(got) : got == expected;
}

static void is_cutoff(const struct cutoffs *cutoffs, const char *daemon,
		      const double *expected, const char *what)
{
	const struct cutoff *c = cutoffs_find(cutoffs, daemon);
	double got[5];

	if (!ok(c, "%s: %s is infrequent", what, daemon))
		return;
	memcpy(got, (double[]){ c->of_short, c->of_long, c->limit_s,
				c->final_short, c->final_long }, sizeof(got));
	for (size_t i = 0; i < COUNT(got); i++)
		if (!same(got[i], expected[i]))
			break;
		else if (i + 1 == COUNT(got)) {
			ok(true, "%s", what);
			return;
		}
	ok(false, "%s", what);
	printf("# got %g %g %g %g %g\n", got[0], got[1], got[2], got[3],
	       got[4]);
}

static struct central short_central[] = {
	{ "frequent", 10, 1 }, { "both", 4, 1 }, { "halves", 1, 0 },
};

static struct execution short_l[] = {
	{ 1, "frequent", 10 }, { 1, "both", 20 }, { 2, "both", 9 },
	{ 2, "both", 3 }, { 3, "alone", 7 }, { 3, "halves", 2 },
	{ 4, "dissolves", 3 }, { 5, "equal", 1 }, { 6, "steady", 40 },
};

static struct central long_central[] = {
	{ "both", 6, 1 }, { "dissolves", 8, 2.15 }, { "frequent", 11, 1 },
	{ "steady", 30, 1.25 },
};

static struct execution long_l[] = {
	{ 1, "both", 100 }, { 1, "rare", 50 }, { 2, "frequent", 11 },
	{ 2, "dissolves", 8 }, { 2, "both", 6 },
};

static struct period periods[] = {
	{ "both", 72000 }, { "rare", 400 }, { "alone", 100 },
	{ "dissolves", 10 },
};

static const struct runs of_short = {
	short_central, COUNT(short_central), short_l, COUNT(short_l),
};

static const struct runs of_long = {
	long_central, COUNT(long_central), long_l, COUNT(long_l),
};

static void test_cutoffs(const struct cutoffs *cutoffs)
{
	is_cutoff(cutoffs, "both", (double[]){ 7, 53, 3600, 7, 53 },
		  "half way to the shortest that is longer, by length");
	is_cutoff(cutoffs, "alone", (double[]){ 4, NONE, 5, 4, 4 },
		  "from 0 where it is not in the cluster, 3.5 is 4");
	is_cutoff(cutoffs, "halves", (double[]){ 2, NONE, NONE, 2, 2 },
		  "1.5 is 2");
	is_cutoff(cutoffs, "dissolves", (double[]){ 2, 12, 0.5, 2, 12 },
		  "part of every long task: maximum and two deviations, 12.3");
	is_cutoff(cutoffs, "steady", (double[]){ 20, 33, NONE, 33, 33 },
		  "32.5 is 33, and the larger holds where there is no period");
	is_cutoff(cutoffs, "rare", (double[]){ NONE, 25, 20, 25, 25 },
		  "in long tasks only");
	is_cutoff(cutoffs, "equal", (double[]){ 1, NONE, NONE, 1, 1 },
		  "0.5 is 1");
	ok(!cutoffs_find(cutoffs, "frequent"),
	   "what is never longer than in the cluster is not infrequent");
	is_i64(cutoffs->count, 7, "there are no others");
	for (size_t i = 1; i < cutoffs->count; i++)
		ok(strcmp(cutoffs->list[i - 1].daemon,
			  cutoffs->list[i].daemon) < 0, "in order: %s",
		   cutoffs->list[i].daemon);
}

/* The example of the protocol: 10 +- 3 in the cluster; 12, 100 and 104 outside. */
static void test_deviations(void)
{
	struct central central = { "d", 10, 3 };
	struct execution executions[] = {
		{ 1, "d", 12 }, { 2, "d", 100 }, { 3, "d", 104 },
		{ 4, "d", 16 }, { 5, "d", 16.001 },
	};
	struct runs runs = { &central, 1, executions, 3 }, none = { 0 };
	struct cutoffs cutoffs;

	cutoffs_compute(&cutoffs, &runs, &none, NULL, 0);
	is_cutoff(&cutoffs, "d", (double[]){ 55, NONE, NONE, 55, 55 },
		  "12 is within two deviations: half way from 10 to 100");
	cutoffs_free(&cutoffs);
	ok(!cutoffs_long_running(&runs, &executions[3]) &&
	   cutoffs_long_running(&runs, &executions[4]),
	   "the maximum and two deviations are not long-running, more is");
	runs.nr_executions = 1;
	cutoffs_compute(&cutoffs, &runs, &none, NULL, 0);
	is_i64(cutoffs.count, 0, "12 alone makes no daemon infrequent");
	cutoffs_free(&cutoffs);
}

static void test_discarded(const struct cutoffs *cutoffs)
{
	static const int expected[] = { 1, 2, 3, 4, 6 };
	struct discarded *list;
	size_t count = cutoffs_discard(cutoffs, TASK_SHORT, &of_short, &list);

	/* 4: 3 > 2; 5: 1 is its cutoff; 3: 7 > 4, while 2 is that of halves. */
	is_i64(count, 5, "samples are discarded by executions over a cutoff");
	for (size_t i = 0; i < count && i < COUNT(expected); i++)
		is_i64(list[i].sample, expected[i], "number %zu", i);
	ok(list[0].worst == &short_l[1], "by the daemon that is over it");
	free(list);

	count = cutoffs_discard(cutoffs, TASK_LONG, &of_long, &list);
	is_i64(count, 1, "long tasks by the cutoffs of long ones");
	is_i64(list[0].executions, 2, "two executions in one sample");
	ok(list[0].worst == &long_l[1],
	   "50 over 25 is more than 100 over 53");
	free(list);

	/* Two executions of 5 ms are not one of 10. */
	ok(!cutoffs_over(cutoffs, TASK_SHORT,
			 &(struct execution){ 1, "both", 7 }),
	   "the cutoff itself is not over it");
	ok(cutoffs_over(cutoffs, TASK_SHORT,
			&(struct execution){ 1, "both", 7.001 }), "more is");
	ok(!cutoffs_over(cutoffs, TASK_SHORT,
			 &(struct execution){ 1, "unknown", 1e9 }),
	   "a daemon without a cutoff is never over it");
}

int main(void)
{
	const struct runs none = { 0 };
	struct cutoffs cutoffs;

	test_deviations();
	cutoffs_compute(&cutoffs, &of_short, &of_long, periods,
			COUNT(periods));
	test_cutoffs(&cutoffs);
	test_discarded(&cutoffs);
	cutoffs_free(&cutoffs);

	cutoffs_compute(&cutoffs, &of_short, &none, NULL, 0);
	is_cutoff(&cutoffs, "both", (double[]){ 7, NONE, NONE, 7, 7 },
		  "without long tasks");
	is_cutoff(&cutoffs, "dissolves", (double[]){ 2, NONE, NONE, 2, 2 },
		  "without their central cluster");
	cutoffs_free(&cutoffs);

	cutoffs_compute(&cutoffs, &none, &none, NULL, 0);
	is_i64(cutoffs.count, 0, "of nothing");
	cutoffs_free(&cutoffs);
	return done();
}
