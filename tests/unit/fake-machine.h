/* SPDX-License-Identifier: GPL-2.0 */
/* A machine that drifts, and a program of known functions, for tests of tense profile. */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include <stdbool.h>

#include <gsl/gsl_rng.h>

#include "profile/profile.h"

#define SECOND_NS	1000000000.0
/* The number of functions of the program, without callers. */
#define FAKE_FUNCTIONS	8

struct fake_machine {
	gsl_rng *rng;
	double speed;
	double clock;		/* s */
	unsigned int runs;
	unsigned int fail_at, interrupt_at;
	unsigned int shared_hot;	/* runs of hot with others in its group */
	unsigned long seed;
	double jitter;		/* of the time in a function */
	bool quiet;		/* one thread, and nothing else differs from run to run */
	bool clocked;		/* "second" lasts until its clock shows a time */
	double spins;		/* s that a thread spins more if second is faster */
	unsigned int no_metric_every;	/* so many runs, one lacks the metric */
	const char *disturb;	/* the first run in which this function is faster, by 1.3 s */
	bool disturbed;
	double length;		/* of a run, instead of 1.3 s of CPU time; 0: that */
	bool many;		/* there are several guests */
	unsigned int batches;	/* of their runs */
	char said[200];
};

/* A profile of all functions, with --time. */
struct profile fake_profile(double seconds);

/*
 * Adds a function: also main(), which calls all others, outer(), which calls first(), or
 * one whose name begins with small or busy.
 */
void fake_profile_add(struct profile *p, const char *name);

/* Returns what profile_measure() returns. */
int fake_measure(struct profile *p, struct fake_machine *m);

#endif
