/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol SEDONA turns samples of a program that only counts into cutoffs. It
 * finds the central cluster, and the executions of daemons in it and outside. From
 * these it learns which daemons are infrequent, and how often they run long.
 */
#ifndef MEASURE_LEARN_H
#define MEASURE_LEARN_H

#include <stddef.h>

#include "cluster.h"
#include "cutoffs-input.h"
#include "measure.h"
#include "periodicity.h"

/* Seconds. */
struct series_sample {
	double began;		/* since the first of all samples */
	double elapsed;
	double process;
	double levelled;	/* elapsed, had all had the median process time */
};

/* Samples of tasks of one length, and what follows from them. */
struct series {
	double length;		/* as the user asked, seconds; 0: none */
	size_t asked;
	struct series_sample *samples;
	size_t count;
	struct cluster cluster;	/* the levelled times, seconds */
	struct runs runs;
};

struct daemon_period {
	char *daemon;
	struct periodicity seen;	/* seconds */
};

struct learnt {
	struct series series[2];	/* by enum task_length */
	struct daemon_period *periods;	/* infrequent daemons, by name */
	size_t nr_periods;
	struct cutoffs cutoffs;
};

/* Whether a sample, from 0 on, is of the central cluster, or else an L-sample. */
bool learn_is_central(const struct series *series, size_t sample);

/*
 * Adds samples of a subject that began at origin or later, by the same clock.
 * Rounds executions to whole ms, halves up, and drops those of 0 ms.
 */
void learn_series(struct series *series, const struct subject *subject,
		  double origin);

/*
 * Computes cutoffs from both series by cutoffs_compute(). The second one may
 * lack samples. A given period replaces an observed one.
 */
void learn_cutoffs(struct learnt *learnt, const struct periods *given);
void learn_free(struct learnt *learnt);

#endif
