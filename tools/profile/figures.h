/* SPDX-License-Identifier: GPL-2.0 */
/* Figures of the runs of a profile: sums, means and how they differ. */
#ifndef TOOLS_PROFILE_FIGURES_H
#define TOOLS_PROFILE_FIGURES_H

#include "profile.h"

/* A number that a run has, of one slot or of the whole run. */
typedef double figure_fn(const struct whatif_sample *s, unsigned int slot);

/* A set of runs of a group. */
struct figure_runs {
	const struct profile_group *group;
	size_t condition;
	/* Instead of condition: all conditions that leave this slot alone. 0: none. */
	unsigned int untouched;
};

struct figure_sum {
	size_t n;
	double mean;		/* NAN without a run */
	double squares;		/* of deviations from the mean */
};

/* Is this a run that counts? Runs of round 0 only find out which functions are called. */
bool figure_counts(const struct whatif_sample *s);

struct figure_sum figure_sum(const struct figure_runs *runs, figure_fn *figure,
			     unsigned int slot);

/* The mean over the runs of a condition, or NAN. */
double figure_mean(const struct profile_group *g, size_t condition, figure_fn *figure,
		   unsigned int slot);

/* Is this a program of one thread, by its null runs? */
bool figure_is_alone(const struct profile_group *g);

/*
 * Returns the control variate for the runs of a member at a condition, and in *doubt the
 * bound of struct race_row.
 */
enum race_control figure_control(const struct profile *p, const struct profile_group *g,
				 size_t condition, size_t member, double *doubt);

figure_fn figure_calls, figure_metric, figure_elapsed, figure_charged, figure_own_ran;
figure_fn figure_threads;
/* Real time in a slot, and its part of the run's CPU time. */
figure_fn figure_ran, figure_part;

#endif
