// SPDX-License-Identifier: GPL-2.0
#include "estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include "base/util.h"

#define RESAMPLES	2000
/* Beyond so many rounds, more pairs of rounds do not change an interval. */
#define HL_ROUNDS	64

/* A variation below this one is that of rounding. */
#define NOTHING	1e-18

/* How y goes with the controls, and how sure that is. */
struct fit {
	double beta[PANEL_CONTROLS];
	/* Inverse of the controls' sums of squares. */
	double inverse[PANEL_CONTROLS][PANEL_CONTROLS];
	size_t used;
};

static double mean_of(const double *values, size_t n)
{
	return gsl_stats_mean(values, 1, n);
}

/* Sum of products of the deviations from the means of the conditions. */
static double within(const struct panel *p, const double *a, const double *b)
{
	double sum = 0;

	for (size_t c = 0; c < p->conditions; c++) {
		const double *ac = a + c * p->rounds, *bc = b + c * p->rounds;
		double mean_a = mean_of(ac, p->rounds);
		double mean_b = mean_of(bc, p->rounds);

		for (size_t r = 0; r < p->rounds; r++)
			sum += (ac[r] - mean_a) * (bc[r] - mean_b);
	}
	return sum;
}

static void fit_one(struct fit *f, size_t k, double square, double product)
{
	if (square < NOTHING)
		return;
	f->beta[k] = product / square;
	f->inverse[k][k] = 1 / square;
	f->used = 1;
}

/* Least squares of y by one or two controls. */
static struct fit fit(const struct panel *p)
{
	const double *a = p->control[0], *b = p->control[1];
	double aa, ab, bb, ay, by, det;
	struct fit f = { 0 };

	if (!a)
		return f;
	aa = within(p, a, a);
	ay = within(p, a, p->y);
	if (!b) {
		fit_one(&f, 0, aa, ay);
		return f;
	}
	bb = within(p, b, b);
	by = within(p, b, p->y);
	ab = within(p, a, b);
	det = aa * bb - ab * ab;
	/* Uses one control only if the other hardly varies or depends on it. */
	if (aa < NOTHING || bb < NOTHING || det < 1e-6 * aa * bb) {
		if (aa >= bb)
			fit_one(&f, 0, aa, ay);
		else
			fit_one(&f, 1, bb, by);
		return f;
	}
	f.beta[0] = (ay * bb - by * ab) / det;
	f.beta[1] = (by * aa - ay * ab) / det;
	f.inverse[0][0] = bb / det;
	f.inverse[1][1] = aa / det;
	f.inverse[0][1] = f.inverse[1][0] = -ab / det;
	f.used = 2;
	return f;
}

/* Adds factor times the difference of a figure between two conditions. */
static void subtract(const struct panel *p, const double *figures,
		     size_t condition, size_t reference, double factor,
		     double *d)
{
	for (size_t r = 0; r < p->rounds; r++)
		d[r] += factor * (figures[condition * p->rounds + r] -
				  figures[reference * p->rounds + r]);
}

/*
 * The coefficients are estimates, too: the further apart the controls happen
 * to lie in two conditions, the more their error matters. By how much wider
 * that makes the interval.
 */
static double widening(const struct panel *p, const struct fit *f,
		       size_t condition, size_t reference)
{
	double apart[PANEL_CONTROLS] = { 0 }, sum = 0;

	for (size_t k = 0; k < PANEL_CONTROLS && p->control[k]; k++)
		apart[k] = mean_of(p->control[k] + condition * p->rounds,
				   p->rounds) -
			   mean_of(p->control[k] + reference * p->rounds,
				   p->rounds);
	for (size_t i = 0; i < PANEL_CONTROLS; i++)
		for (size_t j = 0; j < PANEL_CONTROLS; j++)
			sum += apart[i] * f->inverse[i][j] * apart[j];
	return sqrt(1 + sum * p->rounds / 2);
}

/* Changes their order. */
static double median(double *values, size_t n)
{
	return gsl_stats_median(values, 1, n);
}

static size_t pairs(size_t n)
{
	return n > HL_ROUNDS ? n : n * (n + 1) / 2;
}

/* The median of the means of all pairs: nearly the mean, but robust. */
static double hodges_lehmann(const double *d, size_t n, double *scratch)
{
	size_t k = 0;

	if (n > HL_ROUNDS) {
		memcpy(scratch, d, n * sizeof(*d));
		return median(scratch, n);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			scratch[k++] = (d[i] + d[j]) / 2;
	return median(scratch, k);
}

static double plain_median(const double *d, size_t n, double *scratch)
{
	memcpy(scratch, d, n * sizeof(*d));
	return median(scratch, n);
}

typedef double location(const double *d, size_t n, double *scratch);

/*
 * Stretches the span of the percentiles, because those of resamples of few rounds
 * lie too close together. The normal distribution is narrower than Student's t, and
 * a sample deviates less from its own mean than from the true one.
 */
static struct interval bootstrap(const double *d, size_t n, size_t df,
				 location *locate, double wider)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double *values = xmalloc(RESAMPLES * sizeof(*values));
	double *resample = xmalloc(n * sizeof(*resample));
	double *scratch = xmalloc(pairs(n) * sizeof(*scratch));
	struct interval i = { .value = locate(d, n, scratch) };

	wider *= gsl_cdf_tdist_Pinv(0.975, df) / gsl_cdf_ugaussian_Pinv(0.975) *
		 sqrt((double)n / (n - 1));
	for (size_t b = 0; b < RESAMPLES; b++) {
		for (size_t r = 0; r < n; r++)
			resample[r] = d[gsl_rng_uniform_int(rng, n)];
		values[b] = locate(resample, n, scratch);
	}
	gsl_sort(values, 1, RESAMPLES);
	i.low = gsl_stats_quantile_from_sorted_data(values, 1, RESAMPLES,
						    0.025);
	i.high = gsl_stats_quantile_from_sorted_data(values, 1, RESAMPLES,
						     0.975);
	i.low = i.value + wider * (i.low - i.value);
	i.high = i.value + wider * (i.high - i.value);
	gsl_rng_free(rng);
	free(values);
	free(resample);
	free(scratch);
	return i;
}

struct interval panel_median(const struct panel *p, size_t condition,
			     size_t reference)
{
	double *d = xmalloc(p->rounds * sizeof(*d));
	struct interval i;

	subtract(p, p->y, condition, reference, 1, d);
	i = bootstrap(d, p->rounds, p->rounds - 1, plain_median, 1);
	free(d);
	return i;
}

/* Without what the controls explain. */
static void differences(const struct panel *p, const struct fit *f,
			size_t condition, size_t reference, double *d)
{
	memset(d, 0, p->rounds * sizeof(*d));
	subtract(p, p->y, condition, reference, 1, d);
	for (size_t k = 0; k < PANEL_CONTROLS && p->control[k]; k++)
		subtract(p, p->control[k], condition, reference, -f->beta[k],
			 d);
}

void panel_differences(const struct panel *p, size_t condition,
		       size_t reference, double *d)
{
	struct fit f = fit(p);

	differences(p, &f, condition, reference, d);
}

struct interval panel_adjusted(const struct panel *p, size_t condition,
			       size_t reference)
{
	double *d = xmalloc(p->rounds * sizeof(*d));
	struct fit f = fit(p);
	struct interval i;
	double df = p->conditions * (p->rounds - 1), wider;

	differences(p, &f, condition, reference, d);
	/* The fit makes the differences look less noisy than they are. */
	wider = widening(p, &f, condition, reference) *
		sqrt(df / (df - f.used));
	df = p->rounds - 1 - (f.used && p->rounds > 2);
	i = bootstrap(d, p->rounds, df, hodges_lehmann, wider);
	free(d);
	return i;
}

double panel_explained(const struct panel *p)
{
	struct fit f = fit(p);
	double all = within(p, p->y, p->y), part = 0;

	if (all < NOTHING)
		return 0;
	for (size_t k = 0; k < PANEL_CONTROLS && p->control[k]; k++)
		part += f.beta[k] * within(p, p->control[k], p->y);
	return part / all;
}

struct difference paired_difference(const double *a, const double *b, size_t n)
{
	double *d = xmalloc(n * sizeof(*d));
	struct difference result;

	for (size_t i = 0; i < n; i++)
		d[i] = a[i] - b[i];
	result.mean = gsl_stats_mean(d, 1, n);
	result.error = gsl_stats_sd(d, 1, n) / sqrt(n);
	/* All differences are the same, as of exact counts. */
	if (result.error == 0)
		result.p = result.mean == 0;
	else
		result.p = 2 * gsl_cdf_tdist_Q(fabs(result.mean) /
					       result.error, n - 1);
	free(d);
	return result;
}

size_t rounds_needed(size_t rounds, double width, double target)
{
	double ratio = width / target;

	return ceil(rounds * (ratio > 1 ? ratio * ratio : 1));
}
