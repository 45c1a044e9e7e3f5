/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Levy distribution, truncated: of y, by which a time is beyond its
 * location, with a scale and a range, beyond which there is nothing. All of one
 * unit, and positive. The range may be infinite, the moments then are.
 */
#ifndef NOISE_LEVY_H
#define NOISE_LEVY_H

/*
 * A scale of more than so many ranges is of no use: all is at the end of the
 * range, and the moments lose their digits.
 */
#define LEVY_SCALE_MAX	50.0

/* Natural logarithms of the density and of the probabilities below and above. */
double levy_log_density(double y, double scale, double range);
double levy_log_below(double y, double scale, double range);
double levy_log_above(double y, double scale, double range);

/* The quantile for p from 0 to 1. */
double levy_quantile(double p, double scale, double range);

/* To 1e-8 of themselves up to a scale of LEVY_SCALE_MAX ranges. */
double levy_mean(double scale, double range);
double levy_variance(double scale, double range);

#endif
