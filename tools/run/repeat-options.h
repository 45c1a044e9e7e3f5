/* SPDX-License-Identifier: GPL-2.0 */
/* The options of the commands that run another one several times. */
#ifndef TOOLS_REPEAT_OPTIONS_H
#define TOOLS_REPEAT_OPTIONS_H

#include "base/options.h"

/* Ids that neither a command's own rows nor RUN_OPTION_ROWS use. */
enum repeat_option {
	REPEAT_PREPARE = 0x200, REPEAT_INPUT, REPEAT_IGNORE_FAILURE,
	REPEAT_SHOW_OUTPUT, REPEAT_QUIET,
};

/* The part of a table of options that these commands share. */
#define REPEAT_OPTION_ROWS \
	{ "prepare", "CMD", "-c", REPEAT_PREPARE, \
	  "run CMD in a shell before each run" }, \
	{ "input", "FILE", "-f", REPEAT_INPUT, \
	  "standard input of each run; default /dev/null" }, \
	{ "ignore-failure", NULL, NULL, REPEAT_IGNORE_FAILURE, \
	  "accept any exit status of a run" }, \
	{ "show-output", NULL, NULL, REPEAT_SHOW_OUTPUT, \
	  "do not hide the output of the command" }, \
	{ "quiet", NULL, NULL, REPEAT_QUIET, "do not show the progress" }

#endif
