/* SPDX-License-Identifier: GPL-2.0 */
/* The options of the commands that run another one in an experiment. */
#ifndef TOOLS_RUN_OPTIONS_H
#define TOOLS_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "backend.h"
#include "kernel.h"
#include "base/options.h"

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
	RUN_BACKEND = 0x100, RUN_KERNEL, RUN_CPUS, RUN_MEMORY, RUN_PERCENT, RUN_CLOCK,
	RUN_IDLE, RUN_WINDOW, RUN_DETERMINISTIC, RUN_FILE, RUN_RW,
	RUN_EXPERIMENT,
};

/* Parts of a table of options. RUN_CPUS takes one number, except in whatif. */
#define RUN_GUEST_ROWS RUN_GUEST_ROWS_CPUS("N", "")
#define RUN_GUEST_ROWS_CPUS(argument, more) \
	{ "backend", "NAME", "auto native uml qemu", RUN_BACKEND, \
	  "native: run on this kernel, which must have /dev/tense" }, \
	OPTIONS_OPERAND("", "uml: run on a kernel that is a process; tense builds it on first use"), \
	OPTIONS_OPERAND("", "qemu: run on a kernel in a virtual machine, which may have several CPUs"), \
	OPTIONS_OPERAND("", \
			"auto (default): native if this kernel has /dev/tense, otherwise uml; with several CPUs asked for, uml with Linux 7.2 or 7.3, or qemu if neither can be fetched"), \
	{ "kernel", "VERSION", KERNEL_VERSIONS, RUN_KERNEL, \
	  "uml, qemu: version of the guest's kernel, 6.1, 7.2 or 7.3, or the path of a directory with a kernel; default 7.3 or 7.2 for uml if its source can be fetched, otherwise 6.1" }, \
	{ "cpus", argument, NULL, RUN_CPUS, \
	  "uml, qemu: number of CPUs of the guest, 1 to 64; default: TENSE_CPUS, or those that tense may use for uml, and 1 for qemu" more }, \
	{ "memory", "SIZE", NULL, RUN_MEMORY, \
	  "uml, qemu: memory of the guest, in MiB, or with M or G behind the number" }

#define RUN_TIME_ROWS \
	{ "percent", "P", NULL, RUN_PERCENT, \
	  "speed of the command, 1 to 100000: 200 is twice as fast as in real time; default 100" }, \
	{ "clock", "WHICH", "all monotonic none ordered unordered", RUN_CLOCK, \
	  "the clocks that are virtual, with the waits that use them: all (default), or monotonic, which leaves the time of day real, or none; unordered lets readings on two CPUs be a window apart" }, \
	{ "idle", "WHAT", "real skip", RUN_IDLE, \
	  "while all tasks of the command wait: with real (default), virtual time follows real time; with skip, it jumps to the next deadline if nothing outside can end a wait earlier" }

#define RUN_WINDOW_ROW \
	{ "window", "TIME", NULL, RUN_WINDOW, \
	  "how far the virtual times of two CPUs may be apart: 20us to 100ms, default 500us, or 2ms on several CPUs of uml" }

#define RUN_DETERMINISTIC_ROWS \
	{ "deterministic", NULL, NULL, RUN_DETERMINISTIC, \
	  "count instructions instead of time, in an emulated guest with copies of files: every run has exactly the same result" }, \
	{ "file", "PATH", "-f", RUN_FILE, \
	  "with --deterministic: a file or directory that the command needs, besides its libraries and the current directory; may be repeated" }

#define RUN_RW_ROW \
	{ "rw", "DIR", "-d", RUN_RW, \
	  "uml, qemu: a directory that the command may write to, besides the current one; writes to /tmp are lost; may be repeated" }

/* All commands that run another one in an experiment share these. */
#define RUN_OPTION_ROWS RUN_GUEST_ROWS, RUN_OTHER_ROWS
#define RUN_OTHER_ROWS \
	RUN_TIME_ROWS, RUN_WINDOW_ROW, RUN_DETERMINISTIC_ROWS, RUN_RW_ROW

#define RUN_EXPERIMENT_ROW \
	{ "experiment", "NAME", NULL, RUN_EXPERIMENT, \
	  "share the virtual time of all programs that you run with this NAME: 1 to 32 letters, digits, '.', '_' and '-'; default: TENSE_EXPERIMENT in the environment" }

/* At most argc options will follow. */
void run_options_begin(struct run_options *o, struct run *run,
		       const char *command, int argc);

/*
 * Takes the name of the experiment from the option, else from TENSE_EXPERIMENT. Sets
 * TENSE_EXPERIMENT, so that the command finds the name there.
 */
void run_options_experiment(struct run_options *o, struct run *run);

/* Returns false if c is none of the above. Ends the program if arg makes no sense. */
bool run_options_take(struct run_options *o, struct run *run, int c,
		      const char *arg);

/*
 * Lets the command write to one more directory, which it takes. Also works after
 * run_options_end(). There is room for one such directory.
 */
void run_options_writable(struct run_options *o, struct run *run, char *dir);

/* A file of tense's own, which may be there later, is not packed for a guest. */
void run_options_omit(struct run_options *o, struct run *run,
		      const char *path);

/* Ends the program if the options do not fit together. */
void run_options_check(const struct run_options *o, const struct run *run);

/* Sets the directories that the command may write to; adds the current one. */
void run_options_end(struct run_options *o, struct run *run);
void run_options_free(struct run_options *o, struct run *run);

/* Ends the program: the command was misused. */
#define run_options_misuse(o, ...) options_misuse((o)->command, __VA_ARGS__)

#endif
