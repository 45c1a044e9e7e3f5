/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of a command line of `tense whatif` that need parsing. */
#ifndef TOOLS_WHATIF_OPTIONS_H
#define TOOLS_WHATIF_OPTIONS_H

#include "base/options.h"
#include "run/repeat-options.h"
#include "question.h"

/* Ids of options that whatif and profile have. Their own ones are smaller. */
enum whatif_option {
	WHATIF_METRIC = 0x300, WHATIF_PROGRESS, WHATIF_LATENCY,
	WHATIF_PRECISION, WHATIF_SEED, WHATIF_BETTER,
};

/* The part of a table of options that chooses the metric. */
#define WHATIF_METRIC_ROWS \
	{ "metric", "M", "elapsed cpu stdout: stderr:", WHATIF_METRIC, \
	  "the number to predict: elapsed (default) or cpu, both virtual; stdout:REGEX or stderr:REGEX, a number that the command prints" }, \
	{ "better", "WHICH", "less more", WHATIF_BETTER, \
	  "which numbers that the command prints are better: less, as for a time, or more (default)" }, \
	{ "progress", "NAME", NULL, WHATIF_PROGRESS, \
	  "predict the calls of this function per virtual second" }, \
	{ "latency", "A,B", NULL, WHATIF_LATENCY, \
	  "predict the virtual time from a call of function A to the matching call of function B, in any thread" }

/* Each returns NULL, or an error in the text, which the caller frees. */

/* NAME or NAME@PERCENT. */
char *whatif_parse_func(struct whatif_question *q, const char *text);

/*
 * Changes of the time that the functions take, in percent: "20", "10,20,50%",
 * "0..90/10%". They are added as parts of one, those of slower as negative
 * ones.
 */
char *whatif_parse_cuts(struct whatif_question *q, const char *text,
			bool slower);

/* elapsed, cpu, stdout:REGEX, stderr:REGEX. */
char *whatif_parse_metric(struct whatif_question *q, const char *text);

/* Takes the function of --progress. */
void whatif_set_progress(struct whatif_question *q, const char *name);

/* Parses the two functions of --latency, "A,B". */
char *whatif_parse_latency(struct whatif_question *q, const char *text);

/* A positive number of at most that. */
char *whatif_parse_number(const char *option, const char *text, double max,
			  double *value);

/* A whole one. */
char *whatif_parse_whole(const char *option, const char *text, double max,
			 uint64_t *value);

/*
 * Takes an option of enum whatif_option or enum repeat_option. *taken is false if it
 * is another one.
 */
char *whatif_take_option(struct whatif_question *q, int c, const char *arg,
			 bool *taken);

/* Chooses a seed by chance, or 1 with --deterministic, unless there is one. */
void whatif_choose_seed(struct whatif_question *q);

#endif
