/* SPDX-License-Identifier: GPL-2.0 */
/* A measurement: the question, the samples and the results. */
#ifndef MEASURE_MEASURE_H
#define MEASURE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "activity.h"
#include "compensation.h"
#include "cutoffs-store.h"
#include "emp.h"
#include "environment.h"
#include "journal.h"
#include "libtense/measure/kbest.h"
#include "stopwatch.h"

/* The metrics of each sample. */
enum metric {
	METRIC_ELAPSED,
	METRIC_PROCESS,
	METRIC_REFERENCE,	/* process time in reference loops */
	NR_METRICS,
	NR_BEST = METRIC_REFERENCE	/* the shortest of these mean something */
};

/* The protocol by which samples are taken and evaluated. */
enum protocol {
	PROTOCOL_EMP,
	PROTOCOL_KBEST,
	PROTOCOL_AUTO,		/* asked for: one of the above, by the warm-up */
};

enum fate {
	SAMPLE_KEPT,
	SAMPLE_DAEMON,		/* an infrequent one ran over its cutoff */
};

struct sample {
	double values[NR_METRICS];	/* seconds, and a number of loops */
	double began;			/* seconds, of now_ns() */
	double user;			/* seconds, as wait4() tells them */
	double system;
	double loop;			/* one reference loop, seconds */
	double stepped;			/* by which the wall clock was set */
	unsigned int left;		/* processes that it left behind */
	bool exits_lost;		/* others may be incomplete */
	unsigned int ticks;		/* subtracted from the elapsed time */
	struct activities others;
	enum fate fate;
	size_t by;			/* which of the others, by its cutoff */
};

/* A command and its samples. */
struct subject {
	char *title;
	char **argv;
	char *words;		/* argv points into it; or NULL */
	struct sample *samples;
	size_t count;

	/* Computed from the samples. */
	struct summary all[NR_METRICS];
	struct summary emp[NR_METRICS];
	bool *kept[NR_METRICS];		/* one per sample */
	double reference_better;	/* emp_less_spread(), or NAN */

	struct kbest best[NR_BEST];	/* with K-best, of the samples so far */
};

/* A daemon's time in samples, over all of them. */
struct disturbance {
	char name[17];
	size_t samples;		/* in which it ran */
	double longest;		/* seconds in one sample */
	double total;
	size_t dropped;		/* samples that are for it */
};

struct measurement {
	struct subject *subjects;
	size_t nr_subjects;	/* 1, or 2 to be compared */
	enum protocol asked;
	enum protocol protocol;
	unsigned int k;		/* the K of K-best */
	double epsilon;
	size_t runs;		/* with K-best, at most */
	bool choose_samples;	/* study how many samples suffice */
	double sizes_epsilon;	/* how far subsets may be off */
	size_t emp_runs;	/* if PROTOCOL_AUTO chooses EMP */
	size_t warmup;
	enum stopwatch_clock clock;	/* of the elapsed time */
	bool cold;			/* caches are emptied before each run */
	struct compensation compensation;
	struct cutoff_store cutoffs;
	char *degraded;		/* why other processes are not wholly known */
	bool others_known;
	struct environment environment;
	bool tuned;
	struct changes changes;		/* made by --tune, not owned */
	struct counters before;
	struct counters after;
	struct ratio ratios[NR_METRICS];
};

/* Seconds per reference loop on this machine, as the middle of all samples. */
double measure_loop(const struct measurement *m);

/*
 * The shortest time of the task, in seconds, by which cutoffs are looked up:
 * disturbances only make it longer.
 */
double measure_task_time(const struct subject *subject);

/* Decides on each sample and computes the rest from those that are kept. */
void measure_assess(struct measurement *m);
void measure_free(struct measurement *m);

/* The longest first; the caller frees the list. */
size_t measure_disturbances(const struct measurement *m,
			    struct disturbance **list);

/*
 * Finds the daemon to blame for a sample that was dropped for its length. It
 * ran longer than in the other samples by at least half of the excess. NULL if
 * there is none, or the sample was kept.
 */
const struct activity *measure_suspect(const struct subject *subject,
				       size_t sample, enum metric metric);

const char *metric_name(enum metric metric);
/* Its name in JSON, with the unit. */
const char *metric_key(enum metric metric);

#endif
