/* SPDX-License-Identifier: GPL-2.0 */
/* The effect of noise on a server whose work is exponentially distributed. */
#ifndef NOISE_SERVICE_H
#define NOISE_SERVICE_H

/*
 * The Kullback-Leibler divergence, in nats, of the sum of exponential work and
 * noise from the exponential distribution of the same mean, which is the nearest
 * one. The noise is a truncated Levy from 0, see levy.h; it and the mean of the
 * work are in one unit. NAN if it cannot be computed, as of no work.
 */
double service_divergence(double work, double scale, double range);

/*
 * Mean waiting times with such work and noise of this mean and variance, over those
 * in an M/M/1 queue of the same arrivals and mean service. The formula of Pollaczek
 * and Khinchine gives them; the ratio holds at any utilisation.
 */
double service_waits(double work, double mean, double variance);

#endif
