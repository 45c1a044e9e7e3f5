// SPDX-License-Identifier: GPL-2.0
/* The sample-size study, of samples that are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/sample-sizes.h"
#include "tap.h"

#define SAMPLES	24

static struct measurement m;
static struct sample_sizes sizes;

/* Studies samples of these seconds; a negative one was spoiled by a daemon. */
static void study(const double *seconds, double epsilon)
{
	struct subject s = { .count = SAMPLES };

	s.samples = calloc(SAMPLES, sizeof(*s.samples));
	for (int i = 0; i < SAMPLES; i++) {
		s.samples[i].loop = 1;
		s.samples[i].values[METRIC_ELAPSED] = fabs(seconds[i]);
		s.samples[i].values[METRIC_PROCESS] = fabs(seconds[i]);
		if (seconds[i] < 0) {
			struct activity a = { "daemon", 1, 1000000 };

			s.samples[i].others.list = malloc(sizeof(a));
			s.samples[i].others.list[0] = a;
			s.samples[i].others.count = 1;
		}
	}
	m = (struct measurement){ .nr_subjects = 1 };
	m.subjects = malloc(sizeof(s));
	m.subjects[0] = s;
	m.cutoffs.cutoffs.count = 1;
	m.cutoffs.cutoffs.list = calloc(1, sizeof(struct cutoff));
	m.cutoffs.cutoffs.list[0].daemon = strdup("daemon");
	m.cutoffs.cutoffs.list[0].limit_s = NAN;
	measure_assess(&m);
	sample_sizes_study(m.subjects, METRIC_ELAPSED, epsilon, &sizes);
	measure_free(&m);
}

static bool about(double value, double expected)
{
	return fabs(value - expected) < 1e-9;
}

static void test_even(void)
{
	double seconds[SAMPLES];

	for (int i = 0; i < SAMPLES; i++)
		seconds[i] = i % 2 ? 102 : 100;
	study(seconds, 0.01);
	ok(sizes.count == 3 && sizes.list[0].size == 24 &&
	   sizes.list[1].size == 12 && sizes.list[2].size == 6 &&
	   sizes.list[0].subsets == 1 && sizes.list[1].subsets == 2 &&
	   sizes.list[2].subsets == 4, "24 samples are halved down to 6");
	ok(sizes.chosen == 6, "the smallest size suffices for even samples");
	ok(about(sizes.list[2].deviation, sqrt(6.0 / 5) / 101) &&
	   about(sizes.list[1].deviation, sqrt(12.0 / 11) / 101),
	   "the deviation is that within a subset");
	ok(isnan(sizes.list[0].between) && about(sizes.list[2].between, 0) &&
	   about(sizes.list[2].worst, 0), "the means are the same");
}

static void test_drift(void)
{
	double seconds[SAMPLES];

	for (int i = 0; i < SAMPLES; i++)
		seconds[i] = i < SAMPLES / 2 ? 99 : 101;
	study(seconds, 0.0101);
	ok(sizes.chosen == 6 && about(sizes.list[1].worst, 0.01) &&
	   about(sizes.list[1].between, sqrt(2) / 100),
	   "halves that are off by as much as may be");
	study(seconds, 0.0099);
	ok(!sizes.chosen, "and by more: no size suffices");
}

/* Size 12 has two that are alike, of size 6 each is off. */
static void test_pieces(void)
{
	double seconds[SAMPLES];

	for (int i = 0; i < SAMPLES; i++)
		seconds[i] = i / 6 % 2 ? 99 : 101;
	study(seconds, 0.005);
	ok(sizes.chosen == 12 && about(sizes.list[2].worst, 0.01),
	   "a size is chosen if all larger ones suffice");
}

static void test_outliers(void)
{
	double seconds[SAMPLES];

	for (int i = 0; i < SAMPLES; i++)
		seconds[i] = i == 7 ? 1000 : 100;
	study(seconds, 0.01);
	ok(about(sizes.list[0].outliers, 1) &&
	   about(sizes.list[1].outliers, 0.5) &&
	   about(sizes.list[2].outliers, 0.25) && sizes.chosen == 6,
	   "one outlier is in one subset of each size");
	for (int i = 0; i < SAMPLES; i++)
		seconds[i] = i < 6 ? -100 : 100;
	study(seconds, 0.01);
	ok(about(sizes.list[1].outliers, 3) && sizes.chosen == 12 &&
	   isinf(sizes.list[2].worst),
	   "a subset that a daemon spoiled as a whole does not suffice");
}

int main(void)
{
	test_even();
	test_drift();
	test_pieces();
	test_outliers();
	return done();
}
