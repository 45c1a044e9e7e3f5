// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of tense whatif on figures whose truth is known: does a 95 %
 * interval hold it about 95 times in 100, and is the estimate right on
 * average? All random numbers come from fixed seeds.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "tap.h"
#include "whatif/estimate.h"

enum { CONDITIONS = 3, ROUNDS_MAX = 40, TRIALS = 200 };

struct fake_machine {
	size_t rounds;
	double drift;		/* drift of the speed, sd of a step */
	double noise;		/* scatter that no control explains, sd */
	double outliers;	/* part of the runs that a fifth takes longer */
	double idle;		/* beside one second of work */
	double effect;		/* work of the last condition, relative */
	double step;		/* speed changes by that for good, halfway */
};

struct trial {
	double y[CONDITIONS * ROUNDS_MAX];
	double cpu[CONDITIONS * ROUNDS_MAX];
	struct panel p;
};

struct summary {
	double covered;
	double width;
	double bias;
	double error;		/* root of the mean square */
};

static void draw(struct trial *t, const struct fake_machine *m, gsl_rng *rng)
{
	double speed = 0;

	for (size_t r = 0; r < m->rounds; r++) {
		for (size_t c = 0; c < CONDITIONS; c++) {
			size_t i = c * m->rounds + r;
			double work;

			speed = 0.8 * speed + gsl_ran_gaussian(rng, m->drift);
			work = exp(speed + (2 * r > m->rounds ? m->step : 0));
			t->y[i] = log(work * (c == 2 ? m->effect : 1) +
				      m->idle) +
				  gsl_ran_gaussian(rng, m->noise);
			if (gsl_rng_uniform(rng) < m->outliers)
				t->y[i] += 0.2;
			t->cpu[i] = log(work);
		}
	}
	t->p = (struct panel){
		.conditions = CONDITIONS, .rounds = m->rounds, .y = t->y,
		.control = { t->cpu },
	};
}

static struct summary repeat(const struct fake_machine *m, bool adjusted)
{
	double truth = log((m->effect + m->idle) / (1 + m->idle));
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct summary s = { 0 };
	static struct trial t;

	gsl_rng_set(rng, 1);
	for (int i = 0; i < TRIALS; i++) {
		struct interval e;

		draw(&t, m, rng);
		e = adjusted ? panel_adjusted(&t.p, 2, 1) :
			       panel_median(&t.p, 2, 1);
		s.covered += (e.low <= truth && truth <= e.high) / (double)TRIALS;
		s.width += 100 * (e.high - e.low) / TRIALS;
		s.bias += 100 * (e.value - truth) / TRIALS;
		s.error += 1e4 * (e.value - truth) * (e.value - truth) / TRIALS;
	}
	s.error = sqrt(s.error);
	gsl_rng_free(rng);
	return s;
}

static void show(const char *name, const struct summary *s)
{
	printf("# %-30s covers %.3f, width %6.3f, bias %+.4f, error %.4f\n",
	       name, s->covered, s->width, s->bias, s->error);
}

/* Four standard errors of the mean over the trials. */
static bool unbiased(const struct summary *s)
{
	return fabs(s->bias) < 4 * s->error / sqrt(TRIALS);
}

static void test_coverage(void)
{
	static const struct {
		const char *name;
		struct fake_machine m;
		double low;
	} cases[] = {
		{ "5 rounds, drift 10 %",
		  { 5, .1, .002, 0, 0, .88, 0 }, .92 },
		{ "6 rounds, drift 10 %",
		  { 6, .1, .002, 0, 0, .88, 0 }, .91 },
		{ "12 rounds, drift 20 %",
		  { 12, .2, .002, 0, 0, .88, 0 }, .92 },
		{ "8 rounds, a quiet machine",
		  { 8, .001, .004, 0, 0, .88, 0 }, .92 },
		{ "12 rounds, runs that stand out",
		  { 12, .05, .002, .05, 0, .88, 0 }, .90 },
		{ "8 rounds, speed drops by 15 %",
		  { 8, .03, .002, 0, 0, .88, .15 }, .92 },
		{ "8 rounds, half of it idle",
		  { 8, .05, .003, 0, 1, .88, 0 }, .88 },
		{ "8 rounds, no effect", { 8, .1, .002, 0, 0, 1, 0 }, .92 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct summary plain = repeat(&cases[i].m, false);
		struct summary adjusted = repeat(&cases[i].m, true);

		show(cases[i].name, &plain);
		show("  with control variates", &adjusted);
		ok(plain.covered >= 0.91,
		   "%s: the plain interval holds the truth", cases[i].name);
		ok(adjusted.covered >= cases[i].low,
		   "and so does that of control variates");
		ok(adjusted.covered < 0.995, "which is not wider than need be");
		ok(unbiased(&adjusted) || fabs(adjusted.bias) < 0.05,
		   "whose estimate is right on average");
		if (cases[i].m.drift >= 0.03)
			ok(adjusted.width < plain.width / 2,
			   "and which is much narrower where the machine drifts");
	}
}

/* Looking until it is narrow enough must not make the answer worse. */
static void test_stopping(void)
{
	struct fake_machine m = { ROUNDS_MAX, .1, .008, 0, 0, .88, 0 };
	double truth = log(m.effect), covered = 0, rounds = 0;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	static struct trial t, part;

	gsl_rng_set(rng, 2);
	for (int i = 0; i < TRIALS; i++) {
		struct interval e;
		size_t n = 3;

		draw(&t, &m, rng);
		do {
			n += 2;
			part.p = t.p;
			part.p.rounds = n;
			part.p.y = part.y;
			part.p.control[0] = part.cpu;
			for (size_t c = 0; c < CONDITIONS; c++) {
				memcpy(part.y + c * n, t.y + c * m.rounds,
				       n * sizeof(double));
				memcpy(part.cpu + c * n, t.cpu + c * m.rounds,
				       n * sizeof(double));
			}
			e = panel_adjusted(&part.p, 2, 1);
		} while (e.high - e.low > 0.01 && n + 2 <= m.rounds);
		rounds += n;
		covered += e.low <= truth && truth <= e.high;
	}
	printf("# stopped after %.1f rounds, covers %.3f\n",
	       rounds / (TRIALS), covered / (TRIALS));
	ok(covered / (TRIALS) >= 0.88,
	   "an interval at which one stopped holds the truth");
	gsl_rng_free(rng);
}

static void test_exact(void)
{
	/* y is 2 + control, and another 3 in the second condition. */
	double a[] = { 1, 4, 2, 8, 5, 3, 9, 1, 7, 4 }, y[10];
	double same[10] = { 0 };
	struct panel p = {
		.conditions = 2, .rounds = 5, .y = y, .control = { a },
	};
	struct interval i;

	for (int k = 0; k < 10; k++)
		y[k] = 2 + a[k] + (k >= 5 ? 3 : 0);
	i = panel_adjusted(&p, 1, 0);
	ok(fabs(i.value - 3) < 1e-9 && fabs(i.high - i.low) < 1e-9,
	   "what a control explains whole is taken off whole");
	ok(fabs(panel_explained(&p) - 1) < 1e-9, "which is all of it");
	p.control[0] = same;
	i = panel_adjusted(&p, 1, 0);
	ok(isfinite(i.value) && i.low <= i.value && i.value <= i.high,
	   "a control that does not vary changes nothing");
	p.control[0] = a;
	p.control[1] = a;
	i = panel_adjusted(&p, 1, 0);
	ok(fabs(i.value - 3) < 1e-9, "nor does one twice");
	p.control[1] = same;
	i = panel_adjusted(&p, 1, 0);
	ok(fabs(i.value - 3) < 1e-9, "nor one that does not vary beside it");
	p.y = same;
	i = panel_median(&p, 1, 0);
	ok(i.value == 0 && i.low == 0 && i.high == 0,
	   "of equal figures the difference is none, for sure");
}

static void test_difference(void)
{
	double a[] = { 1.01, 1.02, 0.99, 1.00, 1.03 };
	double b[] = { 1.01, 1.00, 1.01, 1.00, 1.02 };
	double c[] = { 2.01, 2.02, 1.99, 2.01, 2.03 };
	double d[] = { 2, 2, 2, 2, 2 }, e[] = { 3, 3, 3, 3, 3 };

	ok(paired_difference(a, b, 5).p > 0.1, "noise is no difference");
	ok(paired_difference(c, a, 5).p < 1e-4, "a difference is one");
	ok(fabs(paired_difference(c, a, 5).mean - 1.002) < 1e-9,
	   "and as large as it is");
	ok(paired_difference(d, d, 5).p == 1, "exact counts that are equal");
	ok(paired_difference(d, e, 5).p == 0, "and that are not");
	is_i64(rounds_needed(5, 2, 1), 20, "half as wide takes four times");
	is_i64(rounds_needed(5, 0.5, 1), 5, "narrow enough takes no more");
}

int main(void)
{
	test_exact();
	test_difference();
	test_coverage();
	test_stopping();
	return done();
}
