// SPDX-License-Identifier: GPL-2.0
/* Averages, outliers, comparisons, and how often they are wrong. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#include "measure/emp.h"
#include "tap.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TRIALS		4000
#define SIZE		10
#define LARGE		40

static bool near(double got, double expected)
{
	if (fabs(got - expected) <= 1e-6 * fabs(expected))
		return true;
	printf("# got %.9g, expected %.9g\n", got, expected);
	return false;
}

static void test_summary(void)
{
	static const double values[] = { 5, 3, 8, 1, 9, 4 };
	static const bool kept[] = { true, true, false, true, true, false };
	static const double large[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
	struct summary s = emp_summary(values, NULL, 6);

	ok(near(s.mean, 5), "mean");
	ok(near(s.stddev, sqrt(46.0 / 5)), "deviation");
	/* qt(0.975, 5) is 2.570581836. */
	ok(near(s.high - s.mean, 2.570581836 * sqrt(46.0 / 5 / 6)),
	   "interval by t with five degrees of freedom");
	ok(near(s.mean - s.low, s.high - s.mean), "to both sides");
	ok(s.min == 1 && s.max == 9, "minimum and maximum");
	s = emp_summary(values, kept, 6);
	is_i64(s.count, 4, "those that are kept");
	ok(s.min == 1 && s.max == 9, "their minimum and maximum");
	ok(near(s.mean, 4.5), "their mean");
	ok(near(s.stddev, sqrt(35.0 / 3)), "their deviation");
	s = emp_summary(large, NULL, 3);
	ok(s.stddev == 1, "no digits are lost where all are alike");
	s = emp_summary(values, NULL, 1);
	ok(s.mean == 5 && isnan(s.stddev) && isnan(s.low) && isnan(s.high),
	   "one value has no deviation");
	s = emp_summary(values, kept, 0);
	ok(!s.count && isnan(s.mean) && isnan(s.min) && isnan(s.max),
	   "no value has no mean");
	s = emp_summary(values, (bool[]){ 1, 1, 1, 0, 0, 1 }, 6);
	ok(s.min == 3 && s.max == 8, "values that are not kept do not count");
}

static size_t dropped(const double *values, bool *kept, size_t count)
{
	size_t before = 0, after = 0;

	for (size_t i = 0; i < count; i++)
		before += kept[i];
	emp_two_sigma(values, kept, count);
	for (size_t i = 0; i < count; i++)
		after += kept[i];
	return before - after;
}

static void test_two_sigma(void)
{
	/* One of ten values can be at most 2.85 deviations off. */
	double values[SIZE] = { 10, 10, 10, 10, 10, 10, 10, 10, 10, 40 };
	double two[] = { 1, 100 }, same[] = { 3, 3, 3 };
	bool kept[SIZE];

	memset(kept, true, sizeof(kept));
	is_i64(dropped(values, kept, SIZE), 1, "one is far off");
	ok(!kept[9] && kept[0], "the one");
	is_i64(dropped(values, kept, SIZE), 0, "then none");

	memset(kept, true, sizeof(kept));
	kept[9] = false;
	values[8] = 10.5;
	is_i64(dropped(values, kept, SIZE), 1,
	       "what is dropped already does not hide another");
	memset(kept, true, sizeof(kept));
	is_i64(dropped(two, kept, 2), 0, "of two, none can be");
	is_i64(dropped(same, kept, 3), 0, "of equal ones none is");
	is_i64(dropped(values, kept, 0), 0, "of none");
	is_i64(dropped((double[]){ 1, 1.1, 0.9, 1, 1, 1.1, 0.9, 1, 1, -4 },
		       kept, SIZE), 1, "one that is too short, too");
}

static void test_positive(void)
{
	struct summary s = { .count = 2, .mean = 4, .low = -16, .high = 24 };
	struct summary t = emp_positive(s);

	ok(t.low > 0 && near(t.low * t.high, 16) && near(log(t.high / 4), 5),
	   "the interval of a time is by a factor to either side");
	s.low = 3.999;
	s.high = 4.001;
	t = emp_positive(s);
	ok(fabs(t.low - s.low) < 1e-6 && fabs(t.high - s.high) < 1e-6,
	   "which makes no difference where it is short");
	s = emp_positive((struct summary){ .count = 1, .mean = 4, .low = NAN,
					   .high = NAN });
	ok(s.mean == 4 && isnan(s.low) && isnan(s.high), "nor where there is none");
	s = emp_positive((struct summary){ .count = 2 });
	ok(s.low == 0 && s.high == 0, "nor of nothing");
}

static bool holds(struct summary s, double truth)
{
	return s.low <= truth && truth <= s.high;
}

/* Few times that are long, many that are short. */
static void test_skewed(size_t size)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	int hits = 0, plain = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct summary s;
		double values[LARGE];

		for (size_t j = 0; j < size; j++)
			values[j] = exp(gsl_ran_gaussian(rng, 0.5));
		s = emp_summary(values, NULL, size);
		plain += holds(s, exp(0.125));
		hits += holds(emp_positive(s), exp(0.125));
	}
	gsl_rng_free(rng);
	ok(hits > plain, "of %zu, it holds the mean in %.1f %%, by Student in %.1f %%",
	   size, 100.0 * hits / TRIALS, 100.0 * plain / TRIALS);
}

/* How often the 95 % interval holds the truth, after two sigma. */
static void test_coverage(size_t size)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	int hits = 0;

	for (int i = 0; i < TRIALS; i++) {
		double values[LARGE];
		bool kept[LARGE];
		struct summary s;

		memset(kept, true, sizeof(kept));
		for (size_t j = 0; j < size; j++)
			values[j] = 10 + gsl_ran_gaussian(rng, 1);
		s = emp_positive(emp_two_sigma(values, kept, size));
		hits += holds(s, 10);
	}
	gsl_rng_free(rng);
	/* Four standard errors of so many trials. */
	ok(fabs(hits - 0.95 * TRIALS) < 4 * sqrt(TRIALS * 0.95 * 0.05),
	   "of 95 %% intervals after two sigma of %zu, %.1f %% hold the truth",
	   size, 100.0 * hits / TRIALS);
}

static void test_spread(void)
{
	static const double wide[] = { 10, 12, 9, 13, 8, 11, 14, 7 };
	static const double narrow[] = { 100, 80, 110, 105, 118, 99, 121, 90 };
	double scaled[8], p, q;
	const bool three[] = { true, true, true, false, false, false, false,
			       false };

	p = emp_less_spread(narrow, wide, NULL, 8);
	q = emp_less_spread(wide, narrow, NULL, 8);
	ok(p < 0 && near(p, -q), "the sign says which one scatters less");
	/* By integrating the density of Student's t with Simpson's rule. */
	ok(near(fabs(p), 0.198163609), "its probability");
	for (int i = 0; i < 8; i++)
		scaled[i] = narrow[i] * 1000;
	ok(near(emp_less_spread(scaled, wide, NULL, 8), p),
	   "the unit does not matter");
	ok(isnan(emp_less_spread(narrow, wide, three, 8)),
	   "three samples tell nothing");
}

static void test_ratio(void)
{
	static const double a[] = { 10, 20, 30, 40, 50 };
	static const double b[] = { 11, 21, 33, 45, 54 };
	double many_a[20], many_b[20];
	const bool kept[] = { true, true, true, false, true };
	const bool none[5] = { false };
	struct ratio r = emp_ratio(a, b, NULL, 5);

	ok(near(r.ratio, exp((log(1.1) + log(1.05) + log(1.1) + log(1.125) +
			      log(1.08)) / 5)), "the mean of the ratios");
	ok(r.low < r.ratio && r.ratio < r.high && r.low > 1 &&
	   r.verdict == EMP_MORE, "more: [%.3f %.3f]", r.low, r.high);
	r = emp_ratio(b, a, NULL, 5);
	ok(r.verdict == EMP_LESS, "the other way round, less");
	ok(near(r.low, 1 / emp_ratio(a, b, NULL, 5).high),
	   "by the same interval");
	ok(emp_ratio(a, a, NULL, 5).verdict == EMP_SAME, "a command by itself");
	ok(emp_ratio(a, b, NULL, 1).verdict == EMP_UNKNOWN &&
	   emp_ratio(a, b, none, 5).verdict == EMP_UNKNOWN,
	   "one pair tells nothing, nor does none");
	is_i64((int64_t)emp_ratio(a, b, kept, 5).count, 4,
	       "pairs of which one is dropped do not count");
	for (int i = 0; i < 20; i++) {
		many_a[i] = 10 + i % 3;
		many_b[i] = many_a[i] * (1.1 + 0.001 * (i % 2));
	}
	many_b[7] *= 3;
	r = emp_ratio(many_a, many_b, NULL, 20);
	is_i64((int64_t)r.count, 19, "a pair that is far off is dropped");
	ok(r.ratio > 1.099 && r.ratio < 1.102, "and does not count");
}

/* A drift by a half that both of a pair see. */
static void test_ratio_errors(void)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	int found = 0, wrong = 0;

	for (int i = 0; i < TRIALS; i++) {
		double a[SIZE], b[SIZE], same[SIZE];

		for (int j = 0; j < SIZE; j++) {
			double speed = 1 + 0.5 * j / SIZE;

			a[j] = speed * (1 + gsl_ran_gaussian(rng, 0.01));
			b[j] = 1.02 * speed * (1 + gsl_ran_gaussian(rng, 0.01));
			same[j] = speed * (1 + gsl_ran_gaussian(rng, 0.01));
		}
		found += emp_ratio(a, b, NULL, SIZE).verdict == EMP_MORE;
		wrong += emp_ratio(a, same, NULL, SIZE).verdict != EMP_SAME;
	}
	gsl_rng_free(rng);
	ok(found > 0.8 * TRIALS,
	   "2 %% more is found in %.1f %% of trials in spite of a drift by 50 %%",
	   100.0 * found / TRIALS);
	ok(fabs(wrong - 0.05 * TRIALS) < 4 * sqrt(TRIALS * 0.95 * 0.05),
	   "a difference that is not there, in %.1f %%", 100.0 * wrong / TRIALS);
}

int main(void)
{
	test_summary();
	test_two_sigma();
	test_positive();
	test_skewed(3);
	test_skewed(LARGE);
	test_coverage(3);
	test_coverage(7);
	test_coverage(SIZE);
	test_coverage(LARGE);
	test_spread();
	test_ratio();
	test_ratio_errors();
	return done();
}
