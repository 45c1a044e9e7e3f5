/* SPDX-License-Identifier: GPL-2.0 */
/* The actions of `tense daemons`. */
#ifndef MEASURE_DAEMONS_H
#define MEASURE_DAEMONS_H

#include "base/options.h"

/* Identifiers of the options of all actions of tense daemons. */
enum daemons_option {
	LENGTH = 1, LONG_LENGTH, SAMPLES, LONG_SAMPLES, TIME, PERIODS, CUTOFFS, CSV,
	QUIET, PLOT, SVG, SHORT_CENTRAL, SHORT_L, LONG_CENTRAL, LONG_L,
	DISCARDED, JSON,
};

/*
 * Each takes its name as argv[0] and the table of `tense daemons`, and returns
 * the status to exit with.
 */
int daemons_cutoffs(const struct subcommand *command, int argc, char **argv);
int daemons_learn(const struct subcommand *command, int argc, char **argv);
int daemons_show(const struct subcommand *command, int argc, char **argv);

#endif
