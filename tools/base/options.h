/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a command, and messages on wrong ones. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <getopt.h>
#include <stddef.h>

struct subcommand {
	const char *name;
	const char *summary;	/* for the --help of tense */
	int (*run)(int argc, char **argv);	/* returns the exit status */
};

/*
 * The next one, as getopt_long() returns it. '?' after a message where it is not
 * known, lacks its argument, or has another one of the options as its argument:
 * --json --csv lacks a file's name, and does not have that one, which can be
 * written as --json=--csv. letters has ':' first, after '+' if it has that.
 */
int options_next(const char *command, int argc, char **argv,
		 const char *letters, const struct option *options,
		 int *index);

/*
 * The argument of an option that need not have one, and that may be a word of
 * its own unless that looks like an option. NULL if it has none.
 */
char *options_word(int argc, char **argv);

/*
 * Counts the files that are standard output. Each may be NULL. No program can
 * read several outputs that are mixed there.
 */
size_t options_on_stdout(const char *const *outputs, size_t count);

#endif
