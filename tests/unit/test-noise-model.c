// SPDX-License-Identifier: GPL-2.0
/* Coefficients by regression and by hand, and the calibration of work. */
#include <gsl/gsl_errno.h>
#include <math.h>

#include "noise/evaluate.h"
#include "noise/model.h"
#include "noise/nops.h"
#include "tap.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static const struct coefficients truth = { .laws = {
	[BEST] = { .of = { 0.1, 0.125, 1 } },
	[SCALE] = { .of = { -6, 0.5, 0.75 } },
	[RANGE] = { .of = { -3, 1, 0.25 } },
} };

/* In seconds: of 2 processes and 10 ms, 1 ms is the scale. */
static const struct coefficients linear = { .form = FORM_LINEAR, .laws = {
	[BEST] = { .of = { 1e-6, 2e-6, 1.01 } },
	[SCALE] = { .of = { 1e-4, 2e-4, 0.05 } },
	[RANGE] = { .of = { 1e-3, 1e-3, 3 } },
} };

static bool near(double got, double expected, double relative)
{
	if (fabs(got - expected) <= relative * fabs(expected))
		return true;
	printf("# got %.12g, expected %.12g\n", got, expected);
	return false;
}

static size_t make_cells_by(const struct coefficients *of, struct cell *cells)
{
	static const unsigned int per_core[] = { 1, 3, 20 };
	static const double lengths[] = { 1e-4, 1e-3, 1e-2 };
	size_t count = 0;

	for (size_t i = 0; i < COUNT(per_core); i++) {
		for (size_t j = 0; j < COUNT(lengths); j++) {
			struct cell *c = &cells[count++];

			*c = (struct cell){ per_core[i], lengths[j], { 0 },
					    LEVY };
			coefficients_predict(of, c->per_core, c->length,
					     &c->levy);
		}
	}
	return count;
}

static size_t make_cells(struct cell *cells)
{
	return make_cells_by(&truth, cells);
}

static void test_prediction(void)
{
	struct coefficients bad = truth;
	struct dist d;

	ok(!coefficients_predict(&truth, 4, 1e-2, &d), "a prediction");
	ok(near(d.location, exp(0.1) * pow(4, 0.125) * 1e-2 - 1e-2, 1e-12), "its location");
	ok(near(d.scale, exp(-6) * 2 * pow(1e-2, 0.75), 1e-12), "its scale");
	ok(near(d.bound - d.location, exp(-3) * 4 * pow(1e-2, 0.25), 1e-12),
	   "its range");
	bad.laws[SCALE].of[0] = 6;
	ok(coefficients_predict(&bad, 4, 1e-2, &d) < 0,
	   "a scale far beyond the range is none");
	bad.laws[SCALE].of[0] = 1e4;
	ok(coefficients_predict(&bad, 4, 1e-2, &d) < 0, "nor is an infinite one");
}

static void test_regression(void)
{
	struct cell cells[9];
	size_t count = make_cells(cells);
	struct coefficients c;
	bool same = true;

	ok(!coefficients_regress(&c, FORM_LOG, cells, count), "coefficients of nine cells");
	for (int i = 0; i < NR_PARAMETERS; i++)
		for (int j = 0; j < TERMS; j++)
			same &= near(c.laws[i].of[j], truth.laws[i].of[j], 1e-9);
	ok(same, "are those that they were made of");
	ok(near(c.laws[RANGE].r2, 1, 1e-9) && c.laws[RANGE].error < 1e-9,
	   "and explain all");
	/* By 3 and 1 / 3 there is nothing that n and t explain. */
	for (size_t i = 0; i < count; i++)
		cells[i].levy.scale *= i == 4 ? 3 : 1;
	coefficients_regress(&c, FORM_LOG, cells, count);
	/* The middle of the grid has a leverage of about 1 / 9. */
	ok(c.laws[SCALE].error > log(3) * sqrt(0.8 / 6) &&
	   c.laws[SCALE].error < log(3) * sqrt(1.0 / 6) && c.laws[SCALE].r2 < 1,
	   "one scale that is off shows as an error");
	ok(c.laws[RANGE].error < 1e-9, "of the scale only");
	ok(coefficients_regress(&c, FORM_LOG, cells, 3) < 0,
	   "of one number of processes there are none");
	for (size_t i = 0; i < count; i++)
		cells[i].length = 1;
	ok(coefficients_regress(&c, FORM_LOG, cells, count) < 0, "nor of one length");
	make_cells(cells);
	cells[1] = cells[4];
	cells[2] = cells[8];
	ok(coefficients_regress(&c, FORM_LOG, cells, 3) < 0, "nor of three cells");
}

static void test_linear(void)
{
	struct coefficients c, bad = linear;
	struct cell cells[9];
	size_t count = make_cells_by(&linear, cells);
	bool same = true;
	struct dist d;

	ok(!coefficients_predict(&linear, 2, 1e-2, &d), "a linear prediction");
	ok(near(d.location, 1e-6 + 4e-6 + 1e-4, 1e-9), "its location");
	ok(near(d.scale, 1e-3, 1e-12), "its scale");
	ok(near(d.bound - d.location, 3.3e-2, 1e-9), "its range");
	bad.laws[SCALE].of[0] = -2e-3;
	ok(coefficients_predict(&bad, 2, 1e-2, &d) < 0,
	   "a scale below 0 is none");
	bad = linear;
	bad.laws[RANGE].of[2] = -3;
	ok(coefficients_predict(&bad, 2, 1e-2, &d) < 0, "nor is a range");

	ok(!coefficients_regress(&c, FORM_LINEAR, cells, count),
	   "linear coefficients of nine cells");
	is_i64(c.form, FORM_LINEAR, "are linear");
	for (int i = 0; i < NR_PARAMETERS; i++)
		for (int j = 0; j < TERMS; j++)
			same &= near(c.laws[i].of[j], linear.laws[i].of[j],
				     1e-6);
	ok(same, "and those that they were made of");
	ok(near(c.laws[SCALE].r2, 1, 1e-9) && c.laws[SCALE].error < 1e-9,
	   "and explain all");
	coefficients_regress(&c, FORM_LOG, cells, count);
	ok(c.laws[SCALE].r2 < 0.999, "logarithms do not");
}

static size_t hold_out(const struct coefficients *of, struct held_out *classes)
{
	struct cell cells[9];
	size_t count = make_cells_by(of, cells);

	for (size_t i = 0; i < count; i++)
		classes[i] = (struct held_out){
			.per_core = cells[i].per_core,
			.length = cells[i].length,
			.mean = dist_mean(&cells[i].levy),
			.variance = dist_variance(&cells[i].levy),
		};
	return count;
}

static void test_evaluation(void)
{
	struct held_out classes[9];
	size_t count = hold_out(&linear, classes);
	struct coefficients bad = linear;
	struct evaluation e = evaluate(&linear, classes, count), of[NR_FORMS];
	double mean = 0, scatter = 0;

	ok(near(e.mean_r2, 1, 1e-9) && near(e.variance_r2, 1, 1e-9),
	   "the truth explains mean and variance");
	is_i64((int64_t)e.classes, 9, "of nine classes");
	is_i64((int64_t)e.impossible, 0, "none is impossible");
	/* Off by 1 ms each: R^2 is 1 - 9e-6 / scatter. */
	for (size_t i = 0; i < count; i++)
		mean += classes[i].mean / (double)count;
	for (size_t i = 0; i < count; i++)
		scatter += (classes[i].mean - mean) * (classes[i].mean - mean);
	for (size_t i = 0; i < count; i++)
		classes[i].mean += 1e-3;
	e = evaluate(&linear, classes, count);
	ok(near(e.mean_r2, 1 - 9e-6 / scatter, 1e-9),
	   "errors of the mean count by their squares");
	ok(near(e.variance_r2, 1, 1e-9), "the variance by itself");
	bad.laws[SCALE].of[0] = -6e-4;
	e = evaluate(&bad, classes, count);
	ok(e.impossible > 0 && e.impossible < 9 && isnan(e.mean_r2) &&
	   isnan(e.variance_r2),
	   "a model that gives no distribution for some has no R^2");
	e = evaluate(&linear, classes, 1);
	ok(isnan(e.mean_r2), "nor has one of a single class");

	of[FORM_LOG].mean_r2 = 0.5;
	of[FORM_LINEAR].mean_r2 = 0.6;
	is_i64(evaluation_better(of), FORM_LINEAR, "the larger R^2 is better");
	of[FORM_LOG].mean_r2 = 0.7;
	is_i64(evaluation_better(of), FORM_LOG, "whichever that is");
	of[FORM_LINEAR].mean_r2 = NAN;
	is_i64(evaluation_better(of), FORM_LOG, "none is worse than any");
	of[FORM_LINEAR].mean_r2 = -3;
	of[FORM_LOG].mean_r2 = NAN;
	is_i64(evaluation_better(of), FORM_LINEAR, "also if it is negative");
}

static void test_calibration(void)
{
	static const double blocks[] = { 100, 200, 400, 800 };
	double seconds[COUNT(blocks)];
	struct nops n;

	for (size_t i = 0; i < COUNT(blocks); i++)
		seconds[i] = 3e-6 + blocks[i] * 2e-8;
	nops_regress(&n, blocks, seconds, COUNT(blocks));
	ok(near(n.once, 3e-6, 1e-9) && near(n.block, 2e-8, 1e-9) &&
	   n.error < 1e-9, "a line is found");
	is_i64((int64_t)nops_blocks(&n, 3e-6 + 1234 * 2e-8), 1234,
	       "the blocks of a time");
	ok(near(nops_expected(&n, 1234), 3e-6 + 1234 * 2e-8, 1e-9),
	   "and the time of these");
	is_i64((int64_t)nops_blocks(&n, 1e-6), 1, "at least one");
	seconds[3] *= 1.2;
	nops_regress(&n, blocks, seconds, COUNT(blocks));
	ok(n.error > 0.01 && n.error < 0.2, "an error is relative: %.3f",
	   n.error);
	ok(nops_time(1000000) > nops_time(1000), "more takes longer");
}

int main(void)
{
	gsl_set_error_handler_off();
	test_prediction();
	test_regression();
	test_linear();
	test_evaluation();
	test_calibration();
	return done();
}
