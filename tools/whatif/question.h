/* SPDX-License-Identifier: GPL-2.0 */
/* The question of the user: the command, the functions and their changes. */
#ifndef TOOLS_WHATIF_QUESTION_H
#define TOOLS_WHATIF_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Which numbers that the command prints are better. The other metrics know. */
enum metric_better { BETTER_UNSAID, BETTER_MORE, BETTER_LESS };

struct whatif_metric {
	enum metric_kind kind;
	char *pattern;		/* finds the number, or names functions */
	char *from, *to;	/* the functions of METRIC_LATENCY */
};

struct whatif_question {
	char **argv;
	bool own_argv;		/* to be freed with it */
	struct whatif_func func[WHATIF_FUNCS_MAX];
	size_t funcs;
	double *cuts;
	size_t nr_cuts;
	bool each;		/* function alone, instead of all at once */
	struct whatif_metric metric;
	enum metric_better better;
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
};

/* NULL, or an error in the requested number of runs. */
const char *whatif_limit_runs(struct whatif_question *q);

/* The slot of a progress point, after those of the functions, or 0. */
unsigned int whatif_progress_slot(const struct whatif_question *q);
const char *whatif_name(const struct whatif_question *q, unsigned int name);

const char *whatif_metric_name(enum metric_kind kind);
/* Is the metric a number that the command prints? */
bool whatif_is_printed(const struct whatif_question *q);
/* "elapsed time", "calls of compress per second", "stdout:REGEX (less is better)". */
char *whatif_metric_title(const struct whatif_question *q);
/* True where less of it is better. */
bool whatif_less(const struct whatif_question *q);
/* Turns a change into a gain, which is positive if the program improves. */
double whatif_gain(const struct whatif_question *q, double change);
/* True for a metric that tense measures in ns. */
bool whatif_is_time(const struct whatif_question *q);
/* NULL, or why --better or --show-output does not fit --metric. */
const char *whatif_check_metric(const struct whatif_question *q);

/* Ends the program if nobody can read --input. A --prepare may still create it. */
void whatif_check_input(const struct whatif_question *q);
/* Factor and unit to show it with. */
double whatif_unit(const struct whatif_question *q, const char **unit);
char *whatif_command(const struct whatif_question *q);
void whatif_question_free(struct whatif_question *q);

#endif
