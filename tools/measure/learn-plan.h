/* SPDX-License-Identifier: GPL-2.0 */
/* Divides the time for `tense daemons learn` between short and long tasks. */
#ifndef MEASURE_LEARN_PLAN_H
#define MEASURE_LEARN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* Fewer samples are not enough to learn from. */
#define LEARN_LEAST_SAMPLES	10

/* Arrays are by enum task_length. */
struct learn_plan {
	double time;		/* seconds for all; 0: as much as the rest needs */
	bool short_only;
	double length[2];	/* of a sample, seconds; 0: by the time */
	size_t samples[2];	/* 0: by the time */
	double seconds[2];	/* result: the time that the samples take */
};

/*
 * Fills in lengths and samples that are 0. Long tasks take the time that short ones
 * leave. They are as long as 30 samples allow, but at most 128 times as long as short
 * ones, as in the papers. Returns 0, or the least time in seconds if time is shorter.
 */
double learn_plan_complete(struct learn_plan *plan);

#endif
