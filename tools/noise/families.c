// SPDX-License-Identifier: GPL-2.0
#include "families.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>

#include "levy.h"

static double range_of(const struct dist *d)
{
	return d->bound - d->location;
}

const char *family_name(enum family family)
{
	static const char *const names[] = {
		[LEVY] = "Levy", [GAUSSIAN] = "Gaussian", [GUMBEL] = "Gumbel",
		[CAUCHY] = "Cauchy",
	};

	return names[family];
}

static double levy_log_likelihood(const struct dist *d, const double *values,
				  size_t count)
{
	double a = sqrt(d->scale / 2 / range_of(d)), inverse = 0, logs = 0;

	for (size_t i = 0; i < count; i++) {
		double y = values[i] - d->location;

		if (!(y > 0) || values[i] > d->bound)
			return -INFINITY;
		inverse += 1 / y;
		logs += log(y);
	}
	return (double)count * (log(d->scale / (2 * M_PI)) / 2 -
				gsl_sf_log_erfc(a)) -
	       d->scale / 2 * inverse - 1.5 * logs;
}

/* The density at a standardised value, as a logarithm. */
static double log_density(enum family family, double z)
{
	switch (family) {
	case GAUSSIAN:
		return -z * z / 2 - log(2 * M_PI) / 2;
	case GUMBEL:
		return -z - exp(-z);
	default:
		return -log1p(z * z) - log(M_PI);
	}
}

double dist_log_likelihood(const struct dist *d, const double *values,
			   size_t count)
{
	double sum = -(double)count * log(d->scale);

	if (d->family == LEVY)
		return levy_log_likelihood(d, values, count);
	for (size_t i = 0; i < count; i++)
		sum += log_density(d->family,
				   (values[i] - d->location) / d->scale);
	return sum;
}

/* log(1 - exp(-u)), where u can be so small that 1 - u is 1. */
static double log_of_rest(double u)
{
	return log(-expm1(-u));
}

double dist_log_below(const struct dist *d, double x)
{
	double z = (x - d->location) / d->scale;

	switch (d->family) {
	case LEVY:
		return levy_log_below(x - d->location, d->scale, range_of(d));
	case GAUSSIAN:
		return gsl_sf_log_erfc(-z / M_SQRT2) - M_LN2;
	case GUMBEL:
		return -exp(-z);
	default:
		return log(atan2(1, -z) / M_PI);
	}
}

double dist_log_above(const struct dist *d, double x)
{
	double z = (x - d->location) / d->scale;

	switch (d->family) {
	case LEVY:
		return levy_log_above(x - d->location, d->scale, range_of(d));
	case GAUSSIAN:
		return gsl_sf_log_erfc(z / M_SQRT2) - M_LN2;
	case GUMBEL:
		/* Where exp(-z) is no number any more, it is the probability. */
		return z > 700 ? -z : log_of_rest(exp(-z));
	default:
		return log(atan2(1, z) / M_PI);
	}
}

double dist_quantile(const struct dist *d, double p)
{
	switch (d->family) {
	case LEVY:
		return d->location + levy_quantile(p, d->scale, range_of(d));
	case GAUSSIAN:
		return d->location + gsl_cdf_gaussian_Pinv(p, d->scale);
	case GUMBEL:
		return d->location - d->scale * log(-log(p));
	default:
		return d->location + gsl_cdf_cauchy_Pinv(p, d->scale);
	}
}

double dist_mean(const struct dist *d)
{
	switch (d->family) {
	case LEVY:
		return d->location + levy_mean(d->scale, range_of(d));
	case GAUSSIAN:
		return d->location;
	case GUMBEL:
		return d->location + d->scale * M_EULER;
	default:
		return NAN;
	}
}

double dist_variance(const struct dist *d)
{
	switch (d->family) {
	case LEVY:
		return levy_variance(d->scale, range_of(d));
	case GAUSSIAN:
		return d->scale * d->scale;
	case GUMBEL:
		return gsl_pow_2(M_PI * d->scale) / 6;
	default:
		return NAN;
	}
}
