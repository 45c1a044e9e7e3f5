// SPDX-License-Identifier: GPL-2.0
#include "run-options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "memory.h"
#include "setup.h"
#include "base/paths.h"
#include "base/util.h"

static unsigned int parse_percent(const struct run_options *o,
				  const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < TENSE_PERCENT_MIN ||
	    value > TENSE_PERCENT_MAX)
		run_options_misuse(o, "percent '%s' is not a number from %d to %d",
				   text, TENSE_PERCENT_MIN, TENSE_PERCENT_MAX);
	return value;
}

static void parse_idle(const struct run_options *o, struct run *run,
		       const char *text)
{
	int idle = clock_name_find(text, idle_names);

	if (idle < 0)
		run_options_misuse(o, "idle '%s' is not known: choose real or skip",
				   text);
	run->choice.idle = idle;
}

/* Parses words between commas: the virtual clocks, and the order of readings. */
static void parse_clock(const struct run_options *o, struct run *run,
			const char *text)
{
	while (text) {
		const char *comma = strchr(text, ',');
		char *word = xprintf("%.*s", (int)strcspn(text, ","), text);
		int clocks = clock_name_find(word, clock_names);
		int order = clock_name_find(word, order_names);

		if (clocks < 0 && order < 0)
			run_options_misuse(o, "clock '%s' is not known: choose all, monotonic or none, and ordered or unordered",
					   word);
		if (clocks >= 0)
			run->choice.clocks = clocks;
		else
			run->choice.order = order;
		free(word);
		text = comma ? comma + 1 : NULL;
	}
}

static void set_experiment(const struct run_options *o, struct run *run,
			   const char *name)
{
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789._-");

	if (!length || length > TENSE_NAME_MAX || name[length])
		run_options_misuse(o, "experiment '%s' is not a name of 1 to %d letters, digits, '.', '_' and '-'",
				   name, TENSE_NAME_MAX);
	run->experiment = name;
}

void run_options_experiment(struct run_options *o, struct run *run)
{
	const char *name = setting("TENSE_EXPERIMENT");

	if (!run->experiment && name)
		set_experiment(o, run, name);
	if (run->experiment && setenv("TENSE_EXPERIMENT", run->experiment, 1))
		die(STATUS_FAILED, "out of memory");
}

void run_options_begin(struct run_options *o, struct run *run,
		       const char *command, int argc)
{
	*o = (struct run_options){ .command = command };
	*run = (struct run){ .percent = TENSE_PERCENT_REAL };
	setup_caller(run);
	/* Room for all arguments, two more directories and NULL. */
	o->dirs = xmalloc((argc + 3) * sizeof(*o->dirs));
	run->files = xmalloc((argc + 1) * sizeof(*run->files));
}

bool run_options_take(struct run_options *o, struct run *run, int c,
		      const char *arg)
{
	switch (c) {
	case RUN_BACKEND:
		if (!backend_find(arg, &o->backend))
			run_options_misuse(o, "unknown back end '%s'", arg);
		return true;
	case RUN_KERNEL:
		run->kernel = true;
		kernel_choose_or_use(arg);
		return true;
	case RUN_CPUS:
		setup_cpus(run, arg);
		return true;
	case RUN_MEMORY:
		memory_set(run, arg);
		return true;
	case RUN_DETERMINISTIC:
		run->deterministic = true;
		return true;
	case RUN_FILE:
		run->files[o->nr_files++] = (char *)arg;
		return true;
	case RUN_RW:
		o->dirs[o->nr_dirs++] = setup_directory(arg);
		return true;
	case RUN_WINDOW:
		setup_window(run, arg);
		return true;
	case RUN_PERCENT:
		run->percent = parse_percent(o, arg);
		break;
	case RUN_CLOCK:
		parse_clock(o, run, arg);
		break;
	case RUN_IDLE:
		parse_idle(o, run, arg);
		break;
	case RUN_EXPERIMENT:
		set_experiment(o, run, arg);
		break;
	default:
		return false;
	}
	o->chosen = true;
	return true;
}

void run_options_check(const struct run_options *o, const struct run *run)
{
	if (o->nr_files && !run->deterministic)
		run_options_misuse(o, "--file is for --deterministic: other guests see all files");
}

void run_options_end(struct run_options *o, struct run *run)
{
	run_options_check(o, run);
	/* A command may run others more than once. */
	if (run->directory)
		return;
	run->directory = getcwd(NULL, 0);
	if (!run->directory)
		die(STATUS_FAILED, "the current directory: %s",
		    strerror(errno));
	setup_writable(run, o->dirs, o->nr_dirs);
}

void run_options_writable(struct run_options *o, struct run *run, char *dir)
{
	size_t n = 0;

	if (!run->directory) {
		o->dirs[o->nr_dirs++] = dir;
		return;
	}
	while (run->writable[n])
		n++;
	run->writable[n] = dir;
	run->writable[n + 1] = NULL;
}

/* The file itself may not be there yet. */
static char *future_path(const char *path)
{
	char *above = xprintf("%.*s.", (int)(base_name(path) - path), path);
	char *directory = realpath(above, NULL), *real = NULL;

	if (directory)
		real = xprintf("%s/%s", strcmp(directory, "/") ? directory : "",
			       base_name(path));
	free(directory);
	free(above);
	return real;
}

void run_options_omit(struct run_options *o, struct run *run, const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		real = future_path(path);
	if (!real)
		return;
	o->omitted = xrealloc(o->omitted, (o->nr_omitted + 2) *
					  sizeof(*o->omitted));
	o->omitted[o->nr_omitted++] = real;
	o->omitted[o->nr_omitted] = NULL;
	run->omitted = o->omitted;
}

void run_options_free(struct run_options *o, struct run *run)
{
	for (char **dir = o->dirs; *dir; dir++)
		free(*dir);
	free(o->dirs);
	for (size_t i = 0; i < o->nr_omitted; i++)
		free(o->omitted[i]);
	free(o->omitted);
	free(run->files);
	free(run->directory);
}
