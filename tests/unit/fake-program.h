/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program whose answer is known, and a machine that drifts: in the place of
 * runs, for the tests of tense whatif.
 */
#ifndef FAKE_PROGRAM_H
#define FAKE_PROGRAM_H

#include <gsl/gsl_rng.h>

#include "whatif/rounds.h"

struct fake_program {
	double seconds;		/* CPU time of a run */
	double share;		/* the function's part of it */
	double share_sd;	/* from run to run */
	double idle;		/* seconds in which nothing runs */
	double cpus;		/* that it keeps busy at the same time; 0: one */
	double drift;		/* the machine's speed, sd of a step */
	double noise;		/* scatter of a run's time, sd */
	double bias;		/* the instruments add this to each run */
	double bias_inside;	/* the same, within the function */
	/* Work outside that a faster function leads to, or saves: spinning, say. */
	double more_outside;
	/* Runs for a given time, not for given work. */
	bool time_bound;
	unsigned int calls;
	unsigned int unanswered;	/* calls in no pair for a latency */
	int fail_at;		/* run that fails, from 1 on */
	bool refuse;		/* the function cannot be scaled */

	gsl_rng *rng;
	double speed;		/* log of it */
	unsigned int runs;
	unsigned int order[1000];	/* conditions, as they were run */
};

void fake_program_init(struct fake_program *p, unsigned long seed);
void fake_program_free(struct fake_program *p);

/* For struct whatif_runner. */
int fake_program_run(struct whatif *w, size_t condition,
		     struct whatif_sample *sample, void *arg);
void fake_program_progress(unsigned int done, unsigned int total, void *arg);

/* The change in percent that is true of a condition. */
double fake_program_truth(const struct fake_program *p,
			  const struct whatif_plan *plan,
			  size_t condition);

#endif
