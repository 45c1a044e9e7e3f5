/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a command: one table yields parsing, --help and completion. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* An option, or a line that only --help has. An id above 0 is an option's. */
struct option_row {
	const char *name;	/* "-o": a short option, whose id is its letter */
	const char *argument;	/* NULL: none; "[FILE]": it may be left out */
	const char *completion;	/* of the argument, see struct subcommand */
	int id;			/* options_take() returns it */
	const char *help;	/* NULL hides the option */
};

enum { OPTION_HEADING = -1, OPTION_OPERAND = -2 };

/*
 * A heading of --help. Only these actions, words between spaces, take the
 * options up to the next heading. NULL means all actions.
 */
#define OPTIONS_HEADING(actions, help) \
	{ NULL, actions, NULL, OPTION_HEADING, help }

/* A line of --help about an argument that is not an option. */
#define OPTIONS_OPERAND(name, help) { NULL, name, NULL, OPTION_OPERAND, help }

/* The last rows of each table. options_take() handles --help and -h itself. */
#define OPTIONS_END { "help", NULL, NULL, 'h', "print this text" }, { 0 }

/*
 * Completions are "-f", files, "-d", directories, "-c", commands, or else words.
 */
struct subcommand {
	const char *name;
	const char *summary;	/* for the --help of tense */
	int (*run)(int argc, char **argv);	/* returns the exit status */
	const char *usage;	/* --help before the options */
	const struct option_row *options;
	const char *examples;	/* --help after the options: a line each */
	const char *notes;	/* --help after the examples */
	const char *actions;	/* words, one of which is the first operand */
	/*
	 * Completion of the other operands. From the first operand on, "-c" is a
	 * command with its own options. With "--" it comes after two dashes.
	 */
	const char *operands;
};

/*
 * Does the action take the option in this row? Without a known action: does any?
 */
bool option_is_taken(const struct subcommand *command,
		     const struct option_row *row, const char *action);

/*
 * Parses the next option of a table and returns its id, -1 after the last. Sets
 * optarg, NULL if the argument is missing that may be left out. Prints --help and
 * ends the program. Ends it after a message if the option is unknown, lacks its
 * argument, or has another option as its argument: --json --csv has no file,
 * --json=--csv has. argv[0] is an action, or
 * the command, which takes the options of all its actions.
 */
int options_take(const struct subcommand *command, int argc, char **argv);

/* The name of an option of the table, without dashes, by its id; NULL: there is none. */
const char *options_name(const struct subcommand *command, int id);

/* 0, or -1 after a message if there is an argument beside the options. */
int options_refuse_operands(const struct subcommand *command, int argc,
			    char **argv);

void options_help(const struct subcommand *command);

/*
 * Prints the table for a shell, a line each: an option, its argument as in --help
 * and how it is completed. The lines "-" and "--" do so for the actions and the
 * other operands. Leaves out options that the action does not take, if it is one.
 */
void options_complete(const struct subcommand *command, const char *action);

/*
 * Counts the files that are standard output. Each may be NULL. No program can
 * read several outputs that are mixed there.
 */
size_t options_on_stdout(const char *const *outputs, size_t count);

/* Whether a table goes to a terminal, and the user does not refuse colours. */
bool options_colour(FILE *f);

/* Ends the program: the command was misused. */
void options_misuse(const char *command, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif
