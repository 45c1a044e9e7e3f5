/* SPDX-License-Identifier: GPL-2.0 */
/* The options of the commands that run another one in an experiment. */
#ifndef TOOLS_RUN_OPTIONS_H
#define TOOLS_RUN_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "backend.h"

struct run_options {
	const char *command;	/* name of tense's command, for messages */
	const struct backend *backend;	/* NULL: to be chosen */
	bool chosen;		/* an option needs an experiment */
	char **dirs;
	size_t nr_dirs;
	size_t nr_files;
	char **omitted;
	size_t nr_omitted;
};

/* getopt_long() returns these. A command's own values are smaller. */
enum run_option {
	RUN_BACKEND = 0x100, RUN_CPUS, RUN_MEMORY, RUN_PERCENT, RUN_CLOCK,
	RUN_IDLE, RUN_WINDOW, RUN_DETERMINISTIC, RUN_FILE, RUN_RW,
};

#define RUN_OPTIONS \
	{ "backend", required_argument, NULL, RUN_BACKEND }, \
	{ "cpus", required_argument, NULL, RUN_CPUS }, \
	{ "memory", required_argument, NULL, RUN_MEMORY }, \
	{ "percent", required_argument, NULL, RUN_PERCENT }, \
	{ "clock", required_argument, NULL, RUN_CLOCK }, \
	{ "idle", required_argument, NULL, RUN_IDLE }, \
	{ "window", required_argument, NULL, RUN_WINDOW }, \
	{ "deterministic", no_argument, NULL, RUN_DETERMINISTIC }, \
	{ "file", required_argument, NULL, RUN_FILE }, \
	{ "rw", required_argument, NULL, RUN_RW }

/* At most argc options will follow. */
void run_options_begin(struct run_options *o, struct run *run,
		       const char *command, int argc);

/* False if c is none of the above. Ends the program if it makes no sense. */
bool run_options_take(struct run_options *o, struct run *run, int c,
		      const char *arg);

/* A file of tense's own, which is there, is not packed for a guest. */
void run_options_omit(struct run_options *o, struct run *run,
		      const char *path);

/* Ends the program if the options do not fit together. */
void run_options_check(const struct run_options *o, const struct run *run);

/* Sets the directories that the command may write to; adds the current one. */
void run_options_end(struct run_options *o, struct run *run);
void run_options_free(struct run_options *o, struct run *run);

/* Ends the program: the command was misused. */
void run_options_misuse(const struct run_options *o, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif
