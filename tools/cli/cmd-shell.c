// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/options.h"
#include "base/paths.h"
#include "base/util.h"
#include "run/packed/backend-exact.h"
#include "run/run-options.h"
#include "run/setup.h"

static const struct option_row options[] = {
	RUN_GUEST_ROWS,
	RUN_WINDOW_ROW,
	RUN_RW_ROW,
	{ "experiment", "NAME", NULL, RUN_EXPERIMENT,
	  "name of the experiment that programs of the shell share: 1 to 32 letters, digits, '.', '_' and '-'; default: TENSE_EXPERIMENT in the environment, else a name for this shell" },
	OPTIONS_OPERAND("ARGUMENT", "an argument of the shell, for example -c after --"),
	OPTIONS_END
};

static char *directory_of(const char *part)
{
	char *path = find_part(part);

	*strrchr(path, '/') = '\0';
	return path;
}

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		die(STATUS_FAILED, "out of memory");
}

/* Lets the loader find a library by its name, as in LD_PRELOAD=libtense.so. */
static void add_library_path(void)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char *directory = directory_of(PATH_LIBTENSE);
	char *path = old && *old ? xprintf("%s:%s", directory, old) :
				   xstrdup(directory);

	set("LD_LIBRARY_PATH", path);
	free(path);
	free(directory);
}

/* Lets the shell find this tense if PATH has no other. */
static void add_path(void)
{
	const char *old = getenv("PATH");
	char *directory = directory_of(PATH_TENSE);
	char *path = xprintf("%s:%s", old && *old ? old : "/usr/bin:/bin",
			     directory);

	set("PATH", path);
	free(path);
	free(directory);
}

/* By default, programs of two shells on one kernel do not share a time. */
static void name_experiment(struct run_options *o, struct run *run)
{
	const char *name = setting("TENSE_EXPERIMENT");
	char *own;

	if (!run->experiment && !name) {
		own = xprintf("shell-%d", (int)getpid());
		set("TENSE_EXPERIMENT", own);
		free(own);
	}
	run_options_experiment(o, run);
}

/* The shell and its arguments. */
static char **command_line(int argc, char **argv)
{
	char **list = xmalloc((argc + 2) * sizeof(*list));
	const char *shell = getenv("SHELL");

	list[0] = (char *)(shell && *shell ? shell : "/bin/sh");
	memcpy(list + 1, argv, (argc + 1) * sizeof(*list));
	return list;
}

/* Runs the shell in real time. Its programs join by themselves. */
static int run_shell(struct run_options *o, struct run *run)
{
	const struct backend *backend;
	struct outcome out;
	void *stats;

	run->real = true;
	run->device = true;
	backend = backend_choose(o->backend, &backend_exact, run);
	backend->run(run, &out, &stats);
	free(stats);
	return setup_status(&out, run->argv);
}

static int main_shell(int argc, char **argv)
{
	struct run_options o;
	struct run run;
	int c, status;

	run_options_begin(&o, &run, "shell", argc);
	while ((c = options_take(&cmd_shell, argc, argv)) != -1)
		run_options_take(&o, &run, c, optarg);
	run_options_end(&o, &run);
	name_experiment(&o, &run);
	add_library_path();
	add_path();
	run.argv = command_line(argc - optind, argv + optind);
	status = run_shell(&o, &run);
	free(run.argv);
	run_options_free(&o, &run);
	return status;
}

const struct subcommand cmd_shell = {
	.name = "shell",
	.summary = "start a shell whose programs can share one virtual time",
	.run = main_shell,
	.usage =
		"Usage: tense shell [OPTION...] [--] [ARGUMENT...]\n"
		"\n"
		"Starts the shell that SHELL names, on a kernel with /dev/tense. The shell and\n"
		"its programs run in real time. Programs with LD_PRELOAD=libtense.so, programs\n"
		"that call tense_init(), and programs of `tense run` share one experiment.\n",
	.options = options,
	.operands = "-f",
	.examples =
		"  tense shell --cpus 2\n"
		"  tense shell -- -c 'LD_PRELOAD=libtense.so ./server & ./client'\n",
	.notes =
		"Exit status: the shell's; 128 + n if signal n ended it; 127 if it was not\n"
		"found, 126 if it could not be executed, 125 if tense failed or was misused.\n",
};
