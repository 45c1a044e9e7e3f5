// SPDX-License-Identifier: GPL-2.0
/*
 * The density of the Levy distribution of scale c is
 *
 *	f(y) = sqrt(c / 2 pi) exp(-c / 2y) / y^1.5,	y > 0.
 *
 * With t = sqrt(c / 2y) it is that of the absolute value of a normal variable:
 * f(y) dy = -2 / sqrt(pi) exp(-t^2) dt. So F(y) = erfc(t), and where it ends at
 * y = r, with a = sqrt(c / 2r), all is divided by F(r) = erfc(a). The moments are
 *
 *	E y^k = (c / 2)^k 2 / (sqrt(pi) erfc(a)) J(k),
 *	J(k)  = integral from a to infinity of t^-2k exp(-t^2) dt,
 *
 * where J(0) is sqrt(pi) / 2 erfc(a) and, by parts,
 *
 *	J(k + 1) = (exp(-a^2) / a^(2k + 1) - 2 J(k)) / (2k + 1).
 *
 * With h = exp(-a^2) / (sqrt(pi) erfc(a)) that makes
 *
 *	E y   = c (h / a - 1),
 *	E y^2 = c^2 / 3 (h / 2a^3 - h / a + 1).
 *
 * Without an end, a is 0 and both are infinite.
 */
#include "levy.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>

static double t_of(double y, double scale)
{
	return sqrt(scale / 2 / y);
}

double levy_log_density(double y, double scale, double range)
{
	if (!(y > 0) || y > range)
		return -INFINITY;
	return log(scale / (2 * M_PI)) / 2 - scale / (2 * y) - 1.5 * log(y) -
	       gsl_sf_log_erfc(t_of(range, scale));
}

double levy_log_below(double y, double scale, double range)
{
	if (!(y > 0))
		return -INFINITY;
	if (y >= range)
		return 0;
	return gsl_sf_log_erfc(t_of(y, scale)) -
	       gsl_sf_log_erfc(t_of(range, scale));
}

double levy_log_above(double y, double scale, double range)
{
	double a = t_of(range, scale), t, part;

	if (!(y > 0))
		return 0;
	if (y >= range)
		return -INFINITY;
	t = t_of(y, scale);
	/* The difference of the two that are further from 1. */
	part = a < 0.5 ? erf(t) - erf(a) : erfc(a) - erfc(t);
	return log(part) - gsl_sf_log_erfc(a);
}

double levy_quantile(double p, double scale, double range)
{
	double t = gsl_cdf_ugaussian_Qinv(p * erfc(t_of(range, scale)) / 2) /
		   M_SQRT2;

	return p >= 1 ? range : scale / (2 * t * t);
}

/* h of above: GSL's hazard function is that of the normal distribution. */
static double hazard(double a)
{
	return gsl_sf_hazard(M_SQRT2 * a) / M_SQRT2;
}

double levy_mean(double scale, double range)
{
	double a = t_of(range, scale);

	return scale * (hazard(a) / a - 1);
}

double levy_variance(double scale, double range)
{
	double a = t_of(range, scale), h = hazard(a);
	double mean = scale * (h / a - 1);
	double square = scale * scale / 3 * (h / (2 * a * a * a) - h / a + 1);

	return isinf(range) ? INFINITY : square - mean * mean;
}
