/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data that the parts of `tense whatif` share. The parts:
 *
 *	whatif-options	what the command line asks
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
#include "run/launch.h"

/* Slot 0 is outside of every function. */
#define WHATIF_SLOTS		16
#define WHATIF_FUNCS_MAX	(WHATIF_SLOTS - 1)
#define WHATIF_ROUNDS_MIN	5
#define WHATIF_ROUNDS_MAX	50	/* unless asked for */
/*
 * Where instructions are counted, rounds differ only by their seed: it sets
 * the phase of the guest's ticks at which a run begins, and the guest's random
 * numbers. One guest runs WHATIF_EXACT_ROUNDS rounds. On several CPUs at least
 * two guests run, because three equal schedules may be an accident.
 */
#define WHATIF_EXACT_ROUNDS_MIN	2
#define WHATIF_EXACT_ROUNDS	3
#define WHATIF_EXACT_ROUNDS_MAX	30	/* unless asked for */
#define WHATIF_EXACT_GUESTS_SMP	2

/*
 * Indices of the functions that the command line names: slots, and behind them
 * the functions of --latency, which need no slot.
 */
#define WHATIF_FROM		WHATIF_SLOTS
#define WHATIF_TO		(WHATIF_SLOTS + 1)
#define WHATIF_NAMES		(WHATIF_SLOTS + 2)

struct whatif_func {
	char *name;		/* [object:]pattern */
	unsigned int percent;	/* said with it, in thousandths; 0: varied */
};

enum metric_kind {
	METRIC_ELAPSED,		/* virtual */
	METRIC_CPU,		/* virtual */
	METRIC_STDOUT,		/* a number that the command prints */
	METRIC_STDERR,
	METRIC_PROGRESS,	/* calls of a function per virtual second */
	METRIC_LATENCY,		/* from a call of a function to one of another */
};

struct whatif_metric {
	enum metric_kind kind;
	char *pattern;		/* finds the number, or names functions */
	char *from, *to;	/* the functions of METRIC_LATENCY */
};

/* In which the command runs: unmodified, instrumented, and varied. */
enum condition_kind { CONDITION_BASELINE, CONDITION_NULL, CONDITION_VARIANT };

struct whatif_condition {
	char *name;
	enum condition_kind kind;
	/* Part of the time that the varied functions take less; NAN: said. */
	double cut;
	/* In thousandths; 0: not instrumented. */
	unsigned int percent[WHATIF_SLOTS];
};

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

/* A function to be scaled by the kernel's breakpoints. */
struct whatif_probe {
	unsigned int slot;
	char *object;
	char *symbol;
	uint64_t offset;	/* in the object's file */
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
	/* Asked. */
	char **argv;
	bool own_argv;		/* to be freed with it */
	struct whatif_func func[WHATIF_FUNCS_MAX];
	size_t funcs;
	double *cuts;
	size_t nr_cuts;
	bool each;		/* function alone, instead of all at once */
	/* Lines with the functions that a name stands for. NULL: the name. */
	char *specs[WHATIF_NAMES];
	/* Functions of a program into which no library can be loaded. */
	struct whatif_probe *probes;
	size_t nr_probes;
	/* Files in which the functions were found, with their debug files. */
	char **objects;
	size_t nr_objects;
	struct whatif_metric metric;
	double precision;	/* points */
	unsigned int max_runs;	/* per condition; 0: not said */
	bool deterministic;	/* instructions are counted instead of time */
	unsigned int runs;	/* then per condition; 0: not said */
	uint64_t seed;
	unsigned int percent;	/* of the whole command */
	struct clock_choice choice;
	uint64_t window_ns;	/* 0: the default */
	char *prepare;		/* or NULL */
	char *input;
	bool show_output;
	bool quiet;
	bool ignore_failure;

	/* Planned. */
	struct whatif_condition *conditions;
	size_t nr_conditions;

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

#define CONDITIONS_FIRST	2	/* variant, after baseline and null */

/* whatif-plan */

/* NULL, or an error in the requested number of runs. */
const char *whatif_plan_runs(struct whatif *w);
/* Plans the conditions from the options; ends the program on wrong ones. */
void whatif_plan(struct whatif *w);

/* The part of its time that a function at this percent takes less. */
double whatif_cut(unsigned int percent);
/* The slot of a progress point, after those of the functions, or 0. */
unsigned int whatif_progress_slot(const struct whatif *w);
const char *whatif_name(const struct whatif *w, unsigned int name);
/* Does the condition differ from the null experiment in that slot? */
bool whatif_varied(const struct whatif *w, size_t condition, unsigned int slot);

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

/* whatif-names */

/*
 * Finds the functions in the command before it runs; ends the program where
 * that is sure to fail.
 */
void whatif_names(struct whatif *w, bool probes);

/* whatif-environment */
void whatif_environment(struct whatif_environment *e, const char *backend);
/* The machine of the runs was a guest of this one. */
void whatif_environment_below(struct whatif_environment *e,
			      const struct whatif_environment *below);
/* The machine of the runs counts instructions: nothing of this one is in it. */
void whatif_environment_exact(struct whatif_environment *e,
			      const char *backend);
void whatif_environment_free(struct whatif_environment *e);

/* whatif-exact */

/*
 * Lists the files to pack for the command: the given ones, and those that are
 * known to be needed. The list ends with NULL. The caller frees it with
 * whatif_exact_free().
 */
char **whatif_exact_files(const struct whatif *w, char *const *files);
void whatif_exact_free(char **files);

/* whatif-text: words that table and page have in common. */
const char *whatif_verdict(enum verdict verdict);
const char *whatif_estimator(enum estimator estimator);
/* The identifiers in JSON. Raise WHATIF_JSON_VERSION if one changes. */
const char *whatif_verdict_id(enum verdict verdict);
const char *whatif_estimator_id(enum estimator estimator);
/* The CPU time that was the program's. */
double whatif_own_ran(const struct whatif_sample *s);
const char *whatif_kind(enum condition_kind kind);
const char *whatif_metric_name(enum metric_kind kind);
/* "virtual elapsed time", "compress() calls per second". */
char *whatif_metric_title(const struct whatif *w);
/* True where less of it is better. */
bool whatif_less(const struct whatif *w);
/* Factor and unit to show it with. */
double whatif_unit(const struct whatif *w, const char **unit);
char *whatif_command(const struct whatif *w);
double whatif_mean(const struct whatif *w, size_t condition,
		   double (*figure)(const struct whatif_sample *));
void whatif_free(struct whatif *w);

#endif
