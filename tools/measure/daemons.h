/* SPDX-License-Identifier: GPL-2.0 */
/* The subcommands of `tense daemons` and the helpers that they share. */
#ifndef MEASURE_DAEMONS_H
#define MEASURE_DAEMONS_H

#include <stdbool.h>

#include "base/options.h"

/* Identifiers of the options of all actions of tense daemons. */
enum daemons_option {
	LENGTH = 1, LONG_LENGTH, SAMPLES, LONG_SAMPLES, PERIODS, CUTOFFS, CSV,
	QUIET, PLOT, SVG, SHORT_CENTRAL, SHORT_L, LONG_CENTRAL, LONG_L,
	DISCARDED, JSON,
};

extern const struct subcommand cmd_daemons;

/* Each with its name as argv[0]: the status to exit with. */
int daemons_cutoffs(int argc, char **argv);
int daemons_learn(int argc, char **argv);
int daemons_show(int argc, char **argv);

/* Says so if there is an argument beside the options. */
bool daemons_bad_argument(int argc, char **argv);

#endif
