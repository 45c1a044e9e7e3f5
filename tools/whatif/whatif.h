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
#include "samples.h"

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

struct whatif {
	struct whatif_question question;
	struct whatif_found found;
	struct whatif_plan plan;
	struct whatif_samples samples;

	/* Concluded. */
	struct interval bias;	/* the null experiment's, percent */
	enum estimator bias_estimator;
	struct whatif_result *results;	/* from the first variant on */
	struct whatif_remark *warnings;
	size_t nr_warnings;
};

/* whatif-assess */

/*
 * Draws the conclusion from the samples of at least two rounds. A measurement
 * does so to decide whether it may end. The writers need a conclusion.
 */
void whatif_assess(struct whatif *w);
void whatif_forget(struct whatif *w);
bool whatif_converged(const struct whatif *w);
double whatif_width(const struct interval *i);

/* whatif-text: words that table and page have in common. */
const char *whatif_verdict(enum verdict verdict);
const char *whatif_estimator(enum estimator estimator);
/* The identifiers in JSON. Raise WHATIF_JSON_VERSION if one changes. */
const char *whatif_verdict_id(enum verdict verdict);
const char *whatif_estimator_id(enum estimator estimator);
void whatif_free(struct whatif *w);

#endif
