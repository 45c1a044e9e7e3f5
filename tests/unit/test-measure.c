// SPDX-License-Identifier: GPL-2.0
/* Computes results from known samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "tap.h"

#define SAMPLES	8

static struct activity quiet[] = { { "cron", 900, 1000000 } };
static struct activity spoiled[] = {
	{ "backup", 901, 300000000 }, { "cron", 900, 40000000 },
	{ "cron", 902, 2000000 },
};

static struct cutoff cutoff_list[] = {
	{ .daemon = "backup", .limit_s = NAN, .final_short = 200,
	  .final_long = 200 },
	{ .daemon = "cron", .limit_s = 100, .final_short = 10,
	  .final_long = 50 },
};

static struct activities others(struct activity *list, size_t count)
{
	struct activities a = { malloc(count * sizeof(*list)), count };

	memcpy(a.list, list, count * sizeof(*list));
	return a;
}

/* One takes about 1 s, and 1.3 s in sample 3, in which a backup ran. */
static void fill(struct subject *s, const char *title, double factor)
{
	*s = (struct subject){ .title = strdup(title), .count = SAMPLES };
	s->samples = calloc(SAMPLES, sizeof(*s->samples));
	for (int i = 0; i < SAMPLES; i++) {
		struct sample *sample = &s->samples[i];
		double seconds = factor * (1 + 0.001 * (i % 2));

		sample->loop = 0.010;
		sample->values[METRIC_ELAPSED] = i == 3 ? factor * 1.3 :
							  seconds;
		sample->values[METRIC_PROCESS] = seconds;
		sample->others = i == 3 ? others(spoiled, 3) :
					  others(quiet, 1);
	}
}

static struct measurement create(double factor)
{
	struct measurement m = { .runs = SAMPLES, .nr_subjects = 1 };

	m.subjects = calloc(2, sizeof(*m.subjects));
	fill(&m.subjects[0], "a", factor);
	return m;
}

static void use_cutoffs(struct measurement *m)
{
	size_t size = sizeof(cutoff_list);

	m->cutoffs.cutoffs.list = malloc(size);
	m->cutoffs.cutoffs.count = 2;
	memcpy(m->cutoffs.cutoffs.list, cutoff_list, size);
	for (int i = 0; i < 2; i++)
		m->cutoffs.cutoffs.list[i].daemon =
			strdup(cutoff_list[i].daemon);
}

static void test_plain(void)
{
	struct measurement m = create(1);
	const struct subject *s = m.subjects;
	const struct activity *suspect;

	measure_assess(&m);
	ok(s->samples[3].fate == SAMPLE_KEPT, "no cutoff, no daemon");
	ok(!s->kept[METRIC_ELAPSED][3], "the long one is an outlier");
	is_i64((int64_t)s->emp[METRIC_ELAPSED].count, 7, "the only one");
	is_i64((int64_t)s->emp[METRIC_PROCESS].count, 8,
	       "its process time is not");
	is_i64((int64_t)s->all[METRIC_ELAPSED].count, 8, "all are all");
	ok(fabs(s->samples[0].values[METRIC_REFERENCE] - 100) < 1e-9,
	   "1 s is 100 loops of 10 ms");
	suspect = measure_suspect(s, 3, METRIC_ELAPSED);
	ok(suspect && !strcmp(suspect->name, "backup"),
	   "what ran 300 ms is to blame, not what ran 40");
	ok(!measure_suspect(s, 3, METRIC_PROCESS),
	   "nobody is where nothing is too long");
	s->samples[3].others.list[0].ns = 100000000;
	ok(!measure_suspect(s, 3, METRIC_ELAPSED),
	   "100 ms do not explain 300");
	measure_free(&m);
}

/* Whoever runs as long in each sample explains none. */
static void test_steady(void)
{
	struct measurement m = create(1);
	const struct subject *s = m.subjects;

	for (int i = 0; i < SAMPLES; i++) {
		activities_free(&s->samples[i].others);
		s->samples[i].others = others(spoiled, 3);
	}
	measure_assess(&m);
	ok(!measure_suspect(s, 3, METRIC_ELAPSED),
	   "who always runs is not to blame");
	measure_free(&m);
}

/* In three of the seven others, too: mostly it does not. */
static void test_often(void)
{
	struct measurement m = create(1);
	const struct subject *s = m.subjects;
	const struct activity *suspect;

	for (int i = 5; i < SAMPLES; i++) {
		activities_free(&s->samples[i].others);
		s->samples[i].others = others(spoiled, 3);
	}
	s->samples[3].values[METRIC_ELAPSED] = 1.5;
	measure_assess(&m);
	suspect = measure_suspect(s, 3, METRIC_ELAPSED);
	ok(suspect && !strcmp(suspect->name, "backup"),
	   "who runs in few of the others is to blame");
	measure_free(&m);
}

static void test_cutoffs(void)
{
	struct measurement m = create(1);
	const struct subject *s = m.subjects;
	struct disturbance *list;

	use_cutoffs(&m);
	measure_assess(&m);
	ok(s->samples[3].fate == SAMPLE_DAEMON, "a daemon over its cutoff");
	/* 300 over 200 is less than 40 over 10. */
	is_i64((int64_t)s->samples[3].by, 1, "the one that is over it by most");
	ok(!s->kept[METRIC_PROCESS][3] && !s->kept[METRIC_ELAPSED][3],
	   "the sample is dropped for all that is measured");
	is_i64((int64_t)measure_disturbances(&m, &list), 2, "two ran");
	ok(!strcmp(list[0].name, "backup") && list[0].samples == 1 &&
	   list[0].longest == 0.3 && !list[0].dropped, "the longest first");
	ok(!strcmp(list[1].name, "cron") && list[1].samples == 8 &&
	   list[1].dropped == 1, "two processes of a name in a sample are one");
	ok(fabs(list[1].total - 0.049) < 1e-12, "in total 49 ms");
	free(list);
	measure_free(&m);

	m = create(150);
	use_cutoffs(&m);
	measure_assess(&m);
	is_i64((int64_t)m.subjects->samples[3].by, 0,
	       "40 ms are within the cutoff of a long task");
	measure_free(&m);
}

static void test_compare(void)
{
	struct measurement m = create(1);

	fill(&m.subjects[m.nr_subjects++], "b", 0.9);
	use_cutoffs(&m);
	measure_assess(&m);
	is_i64((int64_t)m.ratios[METRIC_PROCESS].count, 7,
	       "pairs without a dropped sample");
	ok(fabs(m.ratios[METRIC_PROCESS].ratio - 0.9) < 1e-9 &&
	   m.ratios[METRIC_PROCESS].verdict == EMP_LESS, "0.9: less");
	m.subjects[1].samples[0].loop = 0.030;
	ok(measure_loop(&m) == 0.010, "the middle of all loops");
	measure_free(&m);
}

/* The machine is slower by turns: its loops, too. */
static void test_reference(void)
{
	struct measurement m = create(1);
	struct subject *s = m.subjects;

	for (int i = 0; i < SAMPLES; i++) {
		double speed = 1 + 0.02 * (i % 5);

		s->samples[i].loop *= speed;
		s->samples[i].values[METRIC_PROCESS] *= speed;
	}
	measure_assess(&m);
	ok(s->reference_better < 0 && s->reference_better > -0.01,
	   "a drift of both is taken out: p = %.4f", -s->reference_better);
	ok(s->emp[METRIC_REFERENCE].stddev / s->emp[METRIC_REFERENCE].mean <
	   0.1 * s->emp[METRIC_PROCESS].stddev, "by most of it");
	for (int i = 0; i < SAMPLES; i++) {
		s->samples[i].values[METRIC_PROCESS] = 1 + 0.001 * (i % 3);
		s->samples[i].loop = 0.010 * (1 + 0.05 * (i % 2));
	}
	measure_assess(&m);
	ok(s->reference_better > 0, "loops that scatter by themselves do not help");
	measure_free(&m);
}

int main(void)
{
	test_plain();
	test_steady();
	test_often();
	test_cutoffs();
	test_compare();
	test_reference();
	return done();
}
