/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data that the parts of `tense whatif` share. The parts:
 *
 *	whatif-options	what the command line asks
 *	whatif-question	keeps it
 *	whatif-plan	which runs that takes
 *	whatif-rounds	does them, round by round, until they are enough
 *	whatif-names	which functions of the command that means
 *	whatif-run	one run: an experiment of its own; -log, -metric,
 *			-latency read what it left
 *	whatif-estimate	changes and their intervals from figures of runs
 *	whatif-environment	where that was
 *	whatif-watch, whatif-drop	rounds that daemons of the machine spoiled
 *	whatif-exact	what a guest needs where each answer is like the other
 *	whatif-batches	rounds in several such guests, until they are enough
 *	whatif-assess	which estimate can be trusted, and the verdict
 *	whatif-json	the answer and all samples as JSON, and back
 *	whatif-table, whatif-csv, whatif-html, whatif-curve	the answer
 */
#ifndef TOOLS_WHATIF_H
#define TOOLS_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "estimate.h"
#include "found.h"
#include "plan.h"
#include "question.h"

struct whatif_slot {
	uint64_t calls;
	uint64_t ran;		/* real ns */
	uint64_t charged;	/* virtual ns */
};

/* Calls of the functions of METRIC_LATENCY in a run. */
struct whatif_latency {
	uint64_t from, to;
	uint64_t pairs;		/* calls of from matched with one of to */
	uint64_t lost;		/* for which there was no room */
	double median;		/* ns */
};

/* One run. Times are in ns. */
struct whatif_sample {
	unsigned int round;	/* 0: the one that is discarded */
	unsigned int order;	/* its place among all runs */
	size_t condition;
	uint64_t began, ended;	/* since 1970; 0: not told */
	double metric;
	uint64_t elapsed;	/* virtual */
	uint64_t real;
	uint64_t charged;	/* virtual CPU time */
	uint64_t ran;		/* real CPU time */
	uint64_t gated;
	uint64_t overhead;
	uint64_t reference;	/* the reference loop, around the run */
	unsigned int threads;
	int status;		/* as the shell's $? */
	double pair_ns;		/* an entry and exit, by the stubs, or 0 */
	uint64_t start;		/* start of the stubs, a part of ran */
	struct whatif_slot slot[WHATIF_SLOTS];
	struct whatif_latency latency;
};

/* How the instruments treated a function that a name stands for. */
struct whatif_patch {
	unsigned int slot;	/* or WHATIF_FROM, WHATIF_TO */
	bool patched;
	char *object;
	char *symbol;
	uint64_t offset;	/* in the object's file */
	char *how;		/* the mechanism, or why it was refused */
	unsigned int processes;	/* the most in a run */
	unsigned int seen;	/* in the log that is being read */
};

enum estimator {
	ESTIMATOR_CPU,		/* control variates: CPU time of the run */
	ESTIMATOR_CPU_PER_CALL,
	ESTIMATOR_REFERENCE,	/* control variate: the reference loop */
	ESTIMATOR_MEDIAN,
};

enum verdict {
	VERDICT_PREDICTION,
	VERDICT_NO_EFFECT,
	VERDICT_NOT_CONVERGED,
	VERDICT_NOT_TRUSTED,
};

/* A program tests the identifier; its user reads the sentence. */
struct whatif_remark {
	const char *id;		/* NULL: there is no remark */
	char *text;
};

/* A variant's result. Changes are percent of the metric, shares parts of 1. */
struct whatif_result {
	struct interval change;
	struct interval plain;		/* by the median, for comparison */
	enum estimator estimator;
	enum verdict verdict;
	struct whatif_remark reason;	/* why this verdict */
	struct whatif_remark fallback;	/* why no better estimator */
	double calls;			/* calls of varied functions per run */
	double share;			/* their part of the time */
	double cut;			/* the mean cut of that time */
	double amdahl;			/* change by the share alone */
	double bias_points;		/* points of the change that may be bias */
	double *rounds;			/* the change in each round */
	double *plain_rounds;
};

/* A round in which a daemon of the machine ran for longer than its cutoff. */
struct whatif_spoiled {
	unsigned int round;	/* as it was counted then */
	char daemon[17];
	double ms;
	double cutoff;		/* ms */
	bool dropped;		/* from the samples: there were enough */
};

/* In deterministic runs, the facts of the host are NULL. */
struct whatif_environment {
	char *tense;
	char *backend;
	char *kernel;
	char *host;		/* the kernel below, or NULL */
	char *cpu;
	unsigned int cpus;
	double load[3];
	char *date;
};

struct whatif {
	struct whatif_question question;
	struct whatif_found found;
	struct whatif_plan plan;

	/* Measured. */
	struct whatif_sample *samples;
	size_t nr_samples;
	struct whatif_patch *patches;
	size_t nr_patches;
	struct whatif_spoiled *spoiled;
	size_t nr_spoiled;
	struct whatif_environment environment;

	/* Concluded. */
	struct interval bias;	/* the null experiment's, percent */
	enum estimator bias_estimator;
	struct whatif_result *results;	/* from the first variant on */
	struct whatif_remark *warnings;
	size_t nr_warnings;
};

/* Complete rounds without the discarded one. */
size_t whatif_rounds(const struct whatif *w);
const struct whatif_sample *whatif_at(const struct whatif *w, size_t condition,
				      size_t round);

/* whatif-assess */

/*
 * Draws the conclusion from the samples of at least two rounds. A measurement
 * does so to decide whether it may end. The writers need a conclusion.
 */
void whatif_assess(struct whatif *w);
void whatif_forget(struct whatif *w);
bool whatif_converged(const struct whatif *w);
double whatif_width(const struct interval *i);

/* whatif-environment */
void whatif_environment(struct whatif_environment *e, const char *backend);
/* The machine of the runs was a guest of this one. */
void whatif_environment_below(struct whatif_environment *e,
			      const struct whatif_environment *below);
/* The machine of the runs counts instructions: nothing of this one is in it. */
void whatif_environment_exact(struct whatif_environment *e,
			      const char *backend);
void whatif_environment_free(struct whatif_environment *e);

/* whatif-text: words that table and page have in common. */
const char *whatif_verdict(enum verdict verdict);
const char *whatif_estimator(enum estimator estimator);
/* The identifiers in JSON. Raise WHATIF_JSON_VERSION if one changes. */
const char *whatif_verdict_id(enum verdict verdict);
const char *whatif_estimator_id(enum estimator estimator);
/* The CPU time that was the program's. */
double whatif_own_ran(const struct whatif_sample *s);
double whatif_mean(const struct whatif *w, size_t condition,
		   double (*figure)(const struct whatif_sample *));
void whatif_free(struct whatif *w);

#endif
