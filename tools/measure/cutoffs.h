/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cutoffs of infrequent daemons, by the protocols EMP and SEDONA. If a daemon runs
 * longer than its cutoff during a sample, the sample does not show the program alone.
 *
 * A program that does nothing but count is run often, once as a short and once
 * as a long task. Most samples form a central cluster; the others, L-samples,
 * are longer. A daemon's execution in an L-sample is long-running if it exceeds
 * the longest one in the central cluster by more than two standard deviations.
 * Daemons that have such executions are the infrequent ones.
 *
 * All times of executions are in milliseconds.
 */
#ifndef MEASURE_CUTOFFS_H
#define MEASURE_CUTOFFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A daemon's process time in samples of the central cluster. */
struct central {
	char *daemon;
	double max;
	double stddev;
};

/* One of a daemon's executions during a sample. */
struct execution {
	uint64_t sample;
	char *daemon;
	double ms;
};

/* The executions of daemons during tasks of one length. */
struct runs {
	struct central *central;
	size_t nr_central;
	struct execution *executions;	/* in L-samples */
	size_t nr_executions;
};

/* How often a daemon runs long. */
struct period {
	char *daemon;
	double seconds;
};

/* Times are NAN where there is none. */
struct cutoff {
	const char *daemon;
	double of_short;	/* as the samples of either length have it */
	double of_long;
	double limit_s;		/* from this length on a task is a long one */
	double final_short;	/* the cutoffs to use for either length */
	double final_long;
};

struct cutoffs {
	struct cutoff *list;	/* by name */
	size_t count;
};

enum task_length { TASK_SHORT, TASK_LONG };

/*
 * The cutoffs are rounded to milliseconds, half up. of_long may be without any
 * daemons. The names are those of the runs, which must outlive the cutoffs.
 */
void cutoffs_compute(struct cutoffs *cutoffs, const struct runs *of_short,
		     const struct runs *of_long, const struct period *periods,
		     size_t nr_periods);
void cutoffs_free(struct cutoffs *cutoffs);

/* Is an execution in an L-sample of these runs long-running? */
bool cutoffs_long_running(const struct runs *runs,
			  const struct execution *execution);

/* A daemon's, or NULL. */
const struct cutoff *cutoffs_find(const struct cutoffs *cutoffs,
				  const char *daemon);

/* The cutoff to use for a task of this length; NAN if there is none. */
double cutoff_final(const struct cutoff *cutoff, enum task_length length);

/* The period that its limit is of, in seconds. */
double cutoff_period(const struct cutoff *cutoff);

/* Does an execution spoil a sample of a task of this length? */
bool cutoffs_over(const struct cutoffs *cutoffs, enum task_length length,
		  const struct execution *execution);

/* A discarded sample, and the execution that exceeded its cutoff most. */
struct discarded {
	uint64_t sample;
	const struct execution *worst;
	size_t executions;		/* executions over their cutoffs */
};

/* Lists the discarded samples of the runs, by number; the caller frees it. */
size_t cutoffs_discard(const struct cutoffs *cutoffs, enum task_length length,
		       const struct runs *runs, struct discarded **list);

#endif
