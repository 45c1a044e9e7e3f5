/* SPDX-License-Identifier: GPL-2.0 */
/* The subcommands of `tense daemons` and the helpers that they share. */
#ifndef MEASURE_DAEMONS_H
#define MEASURE_DAEMONS_H

#include <stdbool.h>

/* Each with its name as argv[0]: the status to exit with. */
int daemons_cutoffs(int argc, char **argv);
int daemons_learn(int argc, char **argv);
int daemons_show(int argc, char **argv);

/* The status to exit with. */
int daemons_help(void);

/* Says so if there is an argument beside the options. */
bool daemons_bad_argument(int argc, char **argv);

#endif
