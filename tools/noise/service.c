// SPDX-License-Identifier: GPL-2.0
/*
 * With work of mean 1, R = S + Y has the density
 *
 *	f(r) = integral from 0 to min(r, range) of l(y) exp(y - r) dy
 *
 * where l is that of the noise; beyond the range it is f(range) exp(range - r).
 * The exponential g of the same mean m has E log g(R) = -log m - 1, so that
 *
 *	D = integral of f log(f / g) = integral of f log f + log m + 1.
 */
#include "service.h"

#include <gsl/gsl_integration.h>
#include <math.h>

#include "levy.h"

#define INTERVALS	2000
#define PRECISION	1e-7
/* Integrals leave out densities below exp(-40) of the rest. */
#define LEAST		40

struct service {
	double scale;
	double range;
	double r;
	gsl_integration_workspace *inner;
	gsl_integration_workspace *outer;
	int err;
};

/* The variable is the logarithm of y: scales are far apart. */
static double convolved(double log_y, void *arg)
{
	const struct service *s = arg;
	double y = exp(log_y);

	return exp(levy_log_density(y, s->scale, s->range) + log_y + y - s->r);
}

static double integrate(struct service *s, gsl_integration_workspace *w,
			double (*f)(double, void *), double from, double to)
{
	gsl_function function = { .function = f, .params = s };
	double result = 0, error;
	int err = gsl_integration_qag(&function, from, to, 1e-12, PRECISION,
				      INTERVALS, GSL_INTEG_GAUSS31, w, &result,
				      &error);

	if (err)
		s->err = err;
	return result;
}

/* Where noise begins to count, as a logarithm: exp(-scale / 2y), see levy.c. */
static double beginning(const struct service *s)
{
	return -log(1 / s->range + 2 * LEAST / s->scale);
}

static double density(struct service *s, double r)
{
	double from = beginning(s), to = log(fmin(r, s->range));

	/* An integral over much more would not find the end, where all of it is. */
	if (r > LEAST)
		from = fmax(from, log(r - LEAST));
	s->r = r;
	return to > from ? integrate(s, s->inner, convolved, from, to) : 0;
}

static double entropy_part(double log_r, void *arg)
{
	double r = exp(log_r), f = density(arg, r);

	return f > 0 ? f * log(f) * r : 0;
}

double service_divergence(double work, double scale, double range)
{
	struct service s = {
		.scale = scale / work, .range = range / work,
		.inner = gsl_integration_workspace_alloc(INTERVALS),
		.outer = gsl_integration_workspace_alloc(INTERVALS),
	};
	double sum, last;

	sum = integrate(&s, s.outer, entropy_part, beginning(&s), log(s.range));
	last = density(&s, s.range);
	if (last > 0)
		sum += last * (log(last) - 1);
	gsl_integration_workspace_free(s.inner);
	gsl_integration_workspace_free(s.outer);
	return s.err ? NAN : sum + log1p(levy_mean(s.scale, s.range)) + 1;
}

double service_waits(double work, double mean, double variance)
{
	double total = work + mean;

	return (1 + (work * work + variance) / (total * total)) / 2;
}
