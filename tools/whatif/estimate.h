/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From figures of runs to changes with intervals. Pure functions: the same
 * figures give the same answer.
 *
 * A figure is the logarithm of what was measured, so that a difference is a
 * ratio. A panel holds one of each condition and round: whatever differs
 * between rounds is alike for the conditions of one, and rounds are what is
 * resampled.
 */
#ifndef TOOLS_WHATIF_ESTIMATE_H
#define TOOLS_WHATIF_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#define PANEL_CONTROLS	2

struct panel {
	size_t conditions;
	size_t rounds;
	/* Figure of condition c in round r at c * rounds + r. */
	const double *y;
	/*
	 * Control variates go up and down with y from run to run, and have the
	 * same expectation in every condition. The first NULL ends the list.
	 */
	const double *control[PANEL_CONTROLS];
};

/* At 95 %. Exact for figures that deviate normally, from about 5 rounds on. */
struct interval {
	double value;
	double low;
	double high;
};

/* y of a condition minus that of another, by the median of the rounds. */
struct interval panel_median(const struct panel *p, size_t condition,
			     size_t reference);

/*
 * The same without the part that the controls explain, by the Hodges-Lehmann
 * estimate over the rounds. The coefficients come from the variation within all
 * conditions together.
 */
struct interval panel_adjusted(const struct panel *p, size_t condition,
			       size_t reference);

/* The adjusted differences, round by round. */
void panel_differences(const struct panel *p, size_t condition,
		       size_t reference, double *d);

/* The part of the variation of y within conditions that the controls explain. */
double panel_explained(const struct panel *p);

/*
 * Is the mean of the differences within a round another than 0? p is the
 * probability of one at least that large by chance (Student's t).
 */
struct difference {
	double mean;
	double error;		/* standard error */
	double p;
};

struct difference paired_difference(const double *a, const double *b, size_t n);

/* Rounds that an interval of this width would need to be as narrow as that. */
size_t rounds_needed(size_t rounds, double width, double target);

#endif
