// SPDX-License-Identifier: GPL-2.0
#include "fit.h"

#include <gsl/gsl_multimin.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "levy.h"

#define STEPS_MAX	2000
/* The simplex's final size, in logarithms and spreads. GSL's error is 1e-8. */
#define SIZE_DONE	1e-6
/* If a limit makes the cost flat, the simplex stays large: give up. */
#define GAIN_LEAST	1e-12
#define STALE_MAX	100
/* sqrt(scale / 2 range), see levy.c. */
#define A_MAX		sqrt(LEVY_SCALE_MAX / 2)
#define STARTS		4

struct times {
	enum family family;
	const double *sorted;
	size_t count;
	struct limits limits;
	double spread;	/* between the quartiles */
	double median;
};

const char *fit_refuses(const double *sorted, size_t count)
{
	size_t equal = 1, most = 1;

	if (count < FIT_TIMES_MIN)
		return "fewer than 20 times tell nothing of a distribution";
	for (size_t i = 1; i < count; i++) {
		equal = sorted[i] == sorted[i - 1] ? equal + 1 : 1;
		most = equal > most ? equal : most;
	}
	if (3 * most > count)
		return "more than a third of the times are equal: a finer clock is needed, or a longer workload";
	return NULL;
}

double fit_bound(const double *sorted, size_t count)
{
	return sorted[count - 1] +
	       (sorted[count - 1] - sorted[0]) / (double)count;
}

/*
 * Any number is a location of the Levy's: exp(x0) spreads below the shortest time,
 * and where that would be beyond the limit, short of it.
 */
static double levy_location(const struct times *t, double x0)
{
	double room = t->sorted[0] - t->limits.least;

	return t->sorted[0] - 1 / (1 / (t->spread * exp(x0)) + 1 / room);
}

/* Maps any two numbers to a distribution, so that the search has no borders. */
static struct dist dist_of(const struct times *t, double x0, double x1)
{
	struct dist d = { .family = t->family, .bound = t->limits.bound };
	double a = A_MAX / (1 + exp(-x1));

	if (t->family == LEVY) {
		d.location = levy_location(t, x0);
		d.scale = 2 * a * a * (d.bound - d.location);
	} else {
		d.location = t->median + t->spread * x0;
		d.scale = t->spread * exp(x1);
	}
	return d;
}

static double cost(const gsl_vector *x, void *arg)
{
	const struct times *t = arg;
	struct dist d = dist_of(t, gsl_vector_get(x, 0), gsl_vector_get(x, 1));
	double l = dist_log_likelihood(&d, t->sorted, t->count);

	/* The simplex shrinks away from what is no number; not from infinity. */
	return isfinite(l) ? -l / (double)t->count : 1e300;
}

/* The best scale of a Levy distribution without an end, as the second number. */
static double levy_start(const struct times *t, double x0)
{
	double location = levy_location(t, x0), inverse = 0, a;

	for (size_t i = 0; i < t->count; i++)
		inverse += 1 / (t->sorted[i] - location);
	a = sqrt((double)t->count / inverse / 2 / (t->limits.bound - location));
	a = fmin(a, 0.8 * A_MAX);
	return log(a / (A_MAX - a));
}

/* GSL_SUCCESS when the search is over, GSL_CONTINUE, or an error. */
static int step(gsl_multimin_fminimizer *m, int *stale)
{
	double before = m->fval;
	int status = gsl_multimin_fminimizer_iterate(m);

	if (status)
		return status;
	*stale = before - m->fval > GAIN_LEAST ? 0 : *stale + 1;
	if (*stale == STALE_MAX)
		return GSL_SUCCESS;
	return gsl_multimin_test_size(m->size, SIZE_DONE);
}

/* The lowest cost that is found downhill from x, which it moves there. */
static bool descend(struct times *t, gsl_vector *x, double *lowest)
{
	gsl_multimin_function f = { .f = cost, .n = 2, .params = t };
	gsl_multimin_fminimizer *m =
		gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2,
					      2);
	gsl_vector *sizes = gsl_vector_alloc(2);
	int status = GSL_CONTINUE, stale = 0;

	gsl_vector_set_all(sizes, 0.5);
	gsl_multimin_fminimizer_set(m, &f, x, sizes);
	for (int i = 0; i < STEPS_MAX && status == GSL_CONTINUE; i++)
		status = step(m, &stale);
	gsl_vector_memcpy(x, m->x);
	*lowest = m->fval;
	gsl_vector_free(sizes);
	gsl_multimin_fminimizer_free(m);
	return !status;
}

/* From one start, and again from where that ended: a simplex can go flat. */
static bool search(struct times *t, double x0, double x1, double *lowest,
		   struct dist *d)
{
	gsl_vector *x = gsl_vector_alloc(2);
	bool found;

	gsl_vector_set(x, 0, x0);
	gsl_vector_set(x, 1, x1);
	descend(t, x, lowest);
	found = descend(t, x, lowest);
	*d = dist_of(t, gsl_vector_get(x, 0), gsl_vector_get(x, 1));
	gsl_vector_free(x);
	return found;
}

static struct fit fit_by_search(struct times *t)
{
	/* The Levy's location below the shortest time, in spreads. */
	static const double below[STARTS] = { 0.001, 0.03, 0.3, 3 };
	struct fit fit = { .dist.family = t->family };
	double best = INFINITY;

	for (int i = 0; i < (t->family == LEVY ? STARTS : 1); i++) {
		double x0 = t->family == LEVY ? log(below[i]) : 0;
		double x1 = t->family == LEVY ? levy_start(t, x0) : -M_LN2;
		double lowest;
		struct dist d;

		if (!search(t, x0, x1, &lowest, &d) || lowest >= best)
			continue;
		best = lowest;
		fit.dist = d;
		fit.converged = true;
	}
	return fit;
}

static struct fit fit_gaussian(const struct times *t)
{
	double mean = gsl_stats_mean(t->sorted, 1, t->count);

	return (struct fit){
		.dist = {
			.family = GAUSSIAN, .location = mean,
			.scale = gsl_stats_sd_with_fixed_mean(t->sorted, 1,
							      t->count, mean),
		},
		.converged = true,
	};
}

static struct times times_of(enum family family, const double *sorted,
			     size_t count, const struct limits *limits)
{
	return (struct times) {
		.family = family, .sorted = sorted, .count = count,
		.limits = *limits,
		.spread = gsl_stats_quantile_from_sorted_data(sorted, 1, count,
							      0.75) -
			  gsl_stats_quantile_from_sorted_data(sorted, 1, count,
							      0.25),
		.median = gsl_stats_median_from_sorted_data(sorted, 1, count),
	};
}

static struct fit judge(struct fit fit, const double *sorted, size_t count)
{
	if (!fit.converged)
		return fit;
	fit.log_likelihood = dist_log_likelihood(&fit.dist, sorted, count);
	fit.anderson_darling = fit_anderson_darling(&fit.dist, sorted, count);
	return fit;
}

struct fit fit_family(enum family family, const double *sorted, size_t count,
		      const struct limits *limits)
{
	struct times t = times_of(family, sorted, count, limits);

	return judge(family == GAUSSIAN ? fit_gaussian(&t) : fit_by_search(&t),
		     sorted, count);
}

/* The two numbers whose distribution is d, or is as near as the limits allow. */
static void numbers_of(const struct times *t, const struct dist *d, double *x0,
		       double *x1)
{
	double below = t->sorted[0] - d->location;
	double room = t->sorted[0] - t->limits.least, a;

	if (t->family != LEVY) {
		*x0 = (d->location - t->median) / t->spread;
		*x1 = log(d->scale / t->spread);
		return;
	}
	below = fmin(fmax(below, 1e-6 * t->spread), 0.999 * room);
	*x0 = -log((1 / below - 1 / room) * t->spread);
	a = sqrt(d->scale / 2 / (t->limits.bound - t->sorted[0] + below));
	a = fmin(a, 0.999 * A_MAX);
	*x1 = log(a / (A_MAX - a));
}

struct fit fit_family_from(const struct dist *d, const double *sorted,
			   size_t count, const struct limits *limits)
{
	struct times t = times_of(d->family, sorted, count, limits);
	struct fit fit = { .dist.family = d->family };
	double x0, x1, lowest;

	if (d->family == GAUSSIAN)
		return judge(fit_gaussian(&t), sorted, count);
	numbers_of(&t, d, &x0, &x1);
	fit.converged = search(&t, x0, x1, &lowest, &fit.dist);
	return judge(fit, sorted, count);
}

double fit_anderson_darling(const struct dist *d, const double *sorted,
			    size_t count)
{
	double sum = 0, n = (double)count;

	for (size_t i = 0; i < count; i++)
		sum += (2 * (double)i + 1) *
		       (dist_log_below(d, sorted[i]) +
			dist_log_above(d, sorted[count - 1 - i]));
	return -n - sum / n;
}

const struct fit *fit_closest(const struct fit *fits, size_t count)
{
	const struct fit *closest = NULL;

	for (size_t i = 0; i < count; i++)
		if (fits[i].converged &&
		    (!closest || fits[i].anderson_darling <
				 closest->anderson_darling))
			closest = &fits[i];
	return closest;
}
