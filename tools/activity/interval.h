/* SPDX-License-Identifier: GPL-2.0 */
/* At which even times a CPU is interrupted, by its inactive periods alone. */
#ifndef PERIODS_INTERVAL_H
#define PERIODS_INTERVAL_H

#include "gap.h"

/* Intervals that are looked for: those of 40 to 4000 HZ. */
#define INTERVAL_MIN_NS		0.25e6
#define INTERVAL_MAX_NS		25e6

/* An interrupt is one that is expected if it is off by at most this part of it. */
#define INTERVAL_TOLERANCE	(1.0 / 40)
/* And by at most so much. */
#define INTERVAL_TOLERANCE_NS	50e3

/* A process that ran for less gave the CPU back by itself. */
#define INTERVAL_SLICE_NS	1e6
/* Slices of others are looked at if they are so close to each other. */
#define INTERVAL_SLICES_NS	100e6

/* Fewer show no interval. */
#define INTERVAL_LEAST		7
/* Nor do hits that are as likely by chance, for one of many combs tried. */
#define INTERVAL_CHANCE		1e-10

/*
 * Few hits are no chance if each is off by at most this part of the tolerance:
 * chance seldom hits so closely.
 */
#define INTERVAL_NARROW		(1.0 / 5)

/* An interval has to hit this part of the times that the loop could see. */
#define INTERVAL_SEEN		0.5
/* This part of the slices has to end at a tick, and not by chance. */
#define INTERVAL_ENDED		0.25
#define INTERVAL_END_CHANCE	1e-3

/*
 * A timer interrupts at even times; what else interrupts, or another process
 * that runs when it is due, only adds and hides some. So:
 *
 * - Distances between any two inactive periods are counted in bins that are
 *   narrow against the distance. Distances that stand out are candidates, and
 *   so are parts of them.
 * - For each, the comb of even times is laid through one inactive period after
 *   the other and followed from hit to hit; the one with most hits is fitted
 *   by least squares.
 *
 * This is done first with slices: long inactive periods with a context switch.
 * A scheduler that acts at ticks takes the CPU at one tick. It gives the CPU
 * back at another tick, or a context switch later. The longest candidate wins
 * that explains about as many beginnings and ends of slices as any. A part of
 * it wins instead if the loop saw interrupts at its times, too.
 *
 * Where slices show nothing, it is done with what interrupts without a switch.
 * Then the comb is taken that is hit most and hits most: by the product of the
 * share of its times that were hit, squared, and their number. Twice the
 * interval hits half as many, half of it is hit at every other time only.
 * Times that are hidden by another process do not count.
 *
 * Each share excludes hits by chance. A candidate is no interval if it was hit
 * fewer than INTERVAL_LEAST times, less than the shares above, or as often as
 * chance would hit it. If chance hits as often, a second test has a narrow tolerance,
 * because interrupts of a timer hit their times more closely than chance does.
 */
void interval_infer(struct timer *t, const struct gap *gaps, size_t count,
		    uint64_t length, double ns);

/* Is a time one at which the timer interrupts? */
bool interval_hits(const struct timer *t, double time);

#endif
