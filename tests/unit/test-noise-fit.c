// SPDX-License-Identifier: GPL-2.0
/*
 * Fits of times that are drawn from what is known: what they find, how far off
 * that is on average, and which family is told to be the closest.
 */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

#include "noise/bootstrap.h"
#include "noise/fit.h"
#include "tap.h"

#define SIZE	500
#define TRIALS	40

/* As of microseconds of noise, so that a wrong unit shows. */
static const struct dist truths[NR_FAMILIES] = {
	[LEVY] = { LEVY, 2e-6, 1e-5, 4e-3 },
	[GAUSSIAN] = { GAUSSIAN, 3e-5, 4e-6, 0 },
	[GUMBEL] = { GUMBEL, -1e-5, 2e-6, 0 },
	[CAUCHY] = { CAUCHY, 7e-6, 5e-7, 0 },
};

static void draw(gsl_rng *rng, const struct dist *d, double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = dist_quantile(d, gsl_rng_uniform_pos(rng));
	gsl_sort(values, 1, count);
}

static struct limits limits_of(double bound)
{
	return (struct limits){ .least = -INFINITY, .bound = bound };
}

/* Is the mean of estimates the truth, within four of its standard errors? */
static bool is_unbiased(const double *estimates, double truth)
{
	double mean = gsl_stats_mean(estimates, 1, TRIALS);
	double error = gsl_stats_sd(estimates, 1, TRIALS) / sqrt(TRIALS);

	if (fabs(mean - truth) <= 4 * error)
		return true;
	printf("# mean %g, expected %g, standard error %g\n", mean, truth, error);
	return false;
}

/* The deviation of TRIALS values is itself known to 1 / sqrt(2 TRIALS). */
static bool scatters(const double *estimates, double deviation)
{
	double got = gsl_stats_sd(estimates, 1, TRIALS);

	if (fabs(got / deviation - 1) < 4 / sqrt(2 * TRIALS))
		return true;
	printf("# deviation %g, expected %g\n", got, deviation);
	return false;
}

/* No distribution of the family that is a little different is more likely. */
static bool is_most_likely(const struct fit *fit, const double *values)
{
	double step = fit->dist.scale * 1e-3;

	for (int i = -1; i <= 1; i++) {
		for (int j = -1; j <= 1; j++) {
			struct dist d = fit->dist;

			d.location += i * step;
			d.scale += j * step;
			if (dist_log_likelihood(&d, values, SIZE) >
			    fit->log_likelihood + 1e-9)
				return false;
		}
	}
	return true;
}

/*
 * Asymptotic deviations, for a scale of 1, times sqrt(SIZE), by the information
 * of Fisher; 0 where there is no formula.
 */
static const double scatter[NR_FAMILIES][2] = {
	[GAUSSIAN] = { 1, M_SQRT1_2 }, [GUMBEL] = { 1.0530, 0.7797 },
	[CAUCHY] = { M_SQRT2, M_SQRT2 },
};

static void test_recovery(gsl_rng *rng, const struct dist *truth)
{
	double locations[TRIALS], scales[TRIALS], values[SIZE];
	double unit = truth->scale / sqrt(SIZE);
	const struct limits limits = limits_of(truth->bound);
	bool likely = true, better = true;

	for (int i = 0; i < TRIALS; i++) {
		struct fit fit;

		draw(rng, truth, values, SIZE);
		fit = fit_family(truth->family, values, SIZE, &limits);
		locations[i] = fit.dist.location;
		scales[i] = fit.dist.scale;
		likely &= fit.converged && is_most_likely(&fit, values);
		better &= fit.log_likelihood >=
			  dist_log_likelihood(truth, values, SIZE);
	}
	ok(likely, "%s: the fit is a maximum", family_name(truth->family));
	ok(better, "and more likely than the truth");
	ok(is_unbiased(locations, truth->location), "the location is found");
	ok(is_unbiased(scales, truth->scale), "and the scale");
	if (truth->family == LEVY)
		return;
	ok(scatters(locations, scatter[truth->family][0] * unit) &&
	   scatters(scales, scatter[truth->family][1] * unit),
	   "and scatter as those of maximum likelihood do");
}

static void test_closest(gsl_rng *rng, const struct dist *truth)
{
	struct fit fits[NR_FAMILIES];
	double values[SIZE];
	int right = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct limits limits;

		draw(rng, truth, values, SIZE);
		limits = limits_of(fit_bound(values, SIZE));
		for (int j = 0; j < NR_FAMILIES; j++)
			fits[j] = fit_family(j, values, SIZE, &limits);
		right += fit_closest(fits, NR_FAMILIES)->dist.family ==
			 truth->family;
	}
	is_i64(right, TRIALS, "%s is the closest to its own times",
	       family_name(truth->family));
}

/* The definition, in probabilities u: n (share below - u)^2 / (u (1 - u)). */
struct piece {
	double share;
};

static double distance(double u, void *arg)
{
	const struct piece *p = arg;

	return (p->share - u) * (p->share - u) / u / (1 - u);
}

static double anderson_darling(const struct dist *d, const double *sorted,
			       size_t count)
{
	gsl_integration_workspace *w = gsl_integration_workspace_alloc(1000);
	double from = 0, sum = 0, part, error;

	for (size_t i = 0; i <= count; i++) {
		struct piece p = { (double)i / (double)count };
		gsl_function f = { .function = distance, .params = &p };
		double to = i == count ? 1 : exp(dist_log_below(d, sorted[i]));

		gsl_integration_qags(&f, from, to, 1e-12, 1e-10, 1000, w, &part,
				     &error);
		sum += part;
		from = to;
	}
	gsl_integration_workspace_free(w);
	return (double)count * sum;
}

static void test_anderson_darling(gsl_rng *rng)
{
	static const struct dist narrow = { GAUSSIAN, 0, 1, 0 };
	double values[20], far[] = { 0, 1e3 };

	for (int i = 0; i < NR_FAMILIES; i++) {
		double got, expected;

		draw(rng, &truths[i], values, 20);
		got = fit_anderson_darling(&truths[i], values, 20);
		expected = anderson_darling(&truths[i], values, 20);
		if (!ok(fabs(got - expected) < 1e-7 * expected,
			"the distance from %s is the integral",
			family_name(i)))
			printf("# got %.9g, expected %.9g\n", got, expected);
	}
	/* The tail of the second is exp(-5e5), which is no number. */
	ok(fabs(fit_anderson_darling(&narrow, far, 2) -
		((4 * M_LN2 + 5e5 + log(1e3 * sqrt(2 * M_PI))) / 2 - 2)) < 1e-3,
	   "a time that is next to impossible has a distance");
	far[1] = 2;
	ok(isinf(fit_anderson_darling(&(struct dist){ LEVY, -1, 1, 2 }, far, 2)),
	   "one that is impossible an infinite one");
}

static void test_moments(void)
{
	const struct dist *g = &truths[GUMBEL];
	double sum = 0, squares = 0;

	for (int i = 0; i < 1000000; i++) {
		double x = dist_quantile(g, (i + 0.5) / 1e6) / g->scale;

		sum += x;
		squares += x * x;
	}
	sum /= 1e6;
	ok(fabs(dist_mean(g) / g->scale - sum) < 1e-4 &&
	   fabs(dist_variance(g) / g->scale / g->scale -
		(squares / 1e6 - sum * sum)) < 1e-3,
	   "Gumbel's mean and variance are those of its quantiles");
	ok(isnan(dist_mean(&truths[CAUCHY])) &&
	   isnan(dist_variance(&truths[CAUCHY])), "Cauchy has none");
	ok(dist_mean(&truths[LEVY]) > truths[LEVY].location &&
	   dist_mean(&truths[LEVY]) < truths[LEVY].bound,
	   "Levy's is counted from the location");
}

static void test_refusals(void)
{
	double values[30];

	for (int i = 0; i < 30; i++)
		values[i] = i;
	ok(!fit_refuses(values, 20), "20 times are enough");
	ok(fit_refuses(values, 19) && strstr(fit_refuses(values, 19), "20"),
	   "19 are not");
	for (int i = 0; i < 10; i++)
		values[i] = 0;
	ok(!fit_refuses(values, 30), "a third of them may be equal");
	values[10] = 0;
	ok(fit_refuses(values, 30) && strstr(fit_refuses(values, 30), "equal"),
	   "not more");
	ok(fit_bound(values, 30) == 29 + 29.0 / 30,
	   "a bound lies beyond the longest time");
	ok(!fit_closest((struct fit[]){ { .anderson_darling = 1 } }, 1),
	   "what did not converge is not the closest");
}

/* Times that no Levy distribution is like. */
static void test_poor_fits(gsl_rng *rng)
{
	static const struct dist mirrored = { GUMBEL, 0, 1, 0 };
	double values[SIZE];
	struct limits limits;
	struct fit fit;

	draw(rng, &mirrored, values, SIZE);
	for (int i = 0; i < SIZE; i++)
		values[i] = -values[i];
	gsl_sort(values, 1, SIZE);
	limits = limits_of(fit_bound(values, SIZE));
	fit = fit_family(LEVY, values, SIZE, &limits);
	ok(fit.converged && fit.dist.location < values[0] &&
	   fit.dist.scale <= 50.001 * (fit.dist.bound - fit.dist.location) &&
	   isfinite(fit.log_likelihood),
	   "with its tail on the other side, Levy still ends at a limit");
	limits.least = values[0] - 1e-3;
	fit = fit_family(LEVY, values, SIZE, &limits);
	ok(fit.converged && fit.dist.location < values[0] &&
	   fit.dist.location >= limits.least, "and the location at another");
}

/* From the truth on, the search finds the maximum that it finds without a hint. */
static void test_hint(gsl_rng *rng)
{
	for (int i = 0; i < NR_FAMILIES; i++) {
		double values[SIZE];
		struct limits limits;
		bool same = true;

		for (int j = 0; j < TRIALS / 4; j++) {
			struct fit fit, hinted;

			draw(rng, &truths[i], values, SIZE);
			limits = limits_of(fit_bound(values, SIZE));
			fit = fit_family(i, values, SIZE, &limits);
			hinted = fit_family_from(&truths[i], values, SIZE,
						 &limits);
			same &= hinted.converged &&
				fabs(hinted.log_likelihood -
				     fit.log_likelihood) < 1e-3;
		}
		ok(same, "%s: a search from the truth finds the maximum",
		   family_name(i));
	}
}

#define SMALL		100
#define REPLICATES	99
#define P_VALUES	60

static double p_value_of(enum family family, const double *sorted, size_t count)
{
	const struct bootstrap b = { .replicates = REPLICATES,
				     .own_bound = true, .least = -INFINITY };
	struct limits limits = limits_of(fit_bound(sorted, count));
	struct fit fit = fit_family(family, sorted, count, &limits);

	return bootstrap_p_value(&b, &fit, count);
}

/* The p-value of the true family is evenly distributed from 0 to 1. */
static void test_p_values(gsl_rng *rng)
{
	for (int i = 0; i < NR_FAMILIES; i++) {
		double values[SMALL], sum = 0;
		int below = 0;

		for (int j = 0; j < P_VALUES; j++) {
			double p;

			draw(rng, &truths[i], values, SMALL);
			p = p_value_of(i, values, SMALL);
			sum += p;
			below += p <= 0.1;
		}
		/* Within four standard errors. */
		ok(fabs(sum / P_VALUES - 0.505) < 4 * sqrt(1.0 / 12 / P_VALUES),
		   "%s: the mean p-value of its own times is a half: %.3f",
		   family_name(i), sum / P_VALUES);
		ok(below <= 0.1 * P_VALUES + 4 * sqrt(0.09 * P_VALUES),
		   "and a tenth of them is below 0.1: %d of %d", below,
		   P_VALUES);
	}
}

static void test_p_value_of_others(gsl_rng *rng)
{
	struct bootstrap b = { .replicates = 0, .own_bound = true,
			       .least = -INFINITY };
	struct fit fit = { .converged = true, .anderson_darling = 1 };
	double values[SIZE];

	draw(rng, &truths[CAUCHY], values, SIZE);
	ok(p_value_of(GAUSSIAN, values, SIZE) == 1.0 / (REPLICATES + 1),
	   "times of a Cauchy distribution are not Gaussian");
	draw(rng, &truths[GUMBEL], values, SIZE);
	ok(p_value_of(CAUCHY, values, SIZE) == 1.0 / (REPLICATES + 1),
	   "nor are Gumbel's Cauchy's");
	ok(p_value_of(GUMBEL, values, SIZE) == p_value_of(GUMBEL, values, SIZE),
	   "the same times have the same p-value");
	ok(isnan(bootstrap_p_value(&b, &fit, SIZE)), "no replicates, no p-value");
	b.replicates = REPLICATES;
	fit.converged = false;
	ok(isnan(bootstrap_p_value(&b, &fit, SIZE)), "nor of no fit");
}

int main(void)
{
	gsl_rng *rng;

	gsl_set_error_handler_off();
	rng = gsl_rng_alloc(gsl_rng_taus2);
	for (int i = 0; i < NR_FAMILIES; i++)
		test_recovery(rng, &truths[i]);
	for (int i = 0; i < NR_FAMILIES; i++)
		test_closest(rng, &truths[i]);
	test_anderson_darling(rng);
	test_moments();
	test_refusals();
	test_poor_fits(rng);
	test_hint(rng);
	test_p_values(rng);
	test_p_value_of_others(rng);
	gsl_rng_free(rng);
	return done();
}
