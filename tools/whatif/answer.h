/* SPDX-License-Identifier: GPL-2.0 */
/* The conclusion that assess.c draws from the samples. */
#ifndef TOOLS_WHATIF_ANSWER_H
#define TOOLS_WHATIF_ANSWER_H

#include "estimate.h"
#include "plan.h"
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

struct whatif_answer {
	struct interval bias;	/* the null experiment's, percent */
	enum estimator bias_estimator;
	struct whatif_result *results;	/* from the first variant on */
	size_t nr_results;
	struct whatif_remark *warnings;
	size_t nr_warnings;
};

/*
 * Draws the conclusion from the samples of at least two rounds, in the place of
 * an earlier one. A measurement does so to decide whether it may end. The
 * writers need a conclusion.
 */
void whatif_assess(const struct whatif_question *q,
		   const struct whatif_plan *plan,
		   const struct whatif_samples *samples,
		   struct whatif_answer *answer);

/* The result of a variant. */
const struct whatif_result *whatif_result(const struct whatif_answer *answer,
					  size_t condition);

/* Is each interval as narrow as the user asked for? */
bool whatif_converged(const struct whatif_answer *answer, double precision);
double whatif_width(const struct interval *i);

/* Words that table and page have in common. */
const char *whatif_verdict(enum verdict verdict);
const char *whatif_estimator(enum estimator estimator);
/* The identifiers in JSON. Raise WHATIF_JSON_VERSION if one changes. */
const char *whatif_verdict_id(enum verdict verdict);
const char *whatif_estimator_id(enum estimator estimator);

/* Frees the conclusion. There is none afterwards. */
void whatif_answer_free(struct whatif_answer *answer);

#endif
