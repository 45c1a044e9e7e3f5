/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of a command line of `tense whatif` that need parsing. */
#ifndef TOOLS_WHATIF_OPTIONS_H
#define TOOLS_WHATIF_OPTIONS_H

#include "question.h"

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
char *whatif_parse_number(const char *text, double max, double *value);

#endif
