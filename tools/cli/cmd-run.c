// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/options.h"
#include "base/result-file.h"
#include "run/run-options.h"
#include "run/packed/backend-exact.h"
#include "run/setup.h"
#include "run/stats.h"
#include "base/util.h"

enum { STATS = 1, JSON, REAL, DEVICE };

static const struct option_row options[] = {
	RUN_OPTION_ROWS,
	RUN_EXPERIMENT_ROW,
	{ "stats", NULL, NULL, STATS,
	  "print a table of the real and virtual time of the run" },
	{ "json", "FILE", "-f", JSON, "write that table to FILE as JSON" },
	{ "real", NULL, NULL, REAL,
	  "run in real time on the same kernel, for comparison" },
	{ "device", NULL, NULL, DEVICE,
	  "as --real, but with /dev/tense, so that the command can join an experiment itself" },
	OPTIONS_END
};

struct options {
	struct run_options run;
	const char *json;
	bool table;
	bool named;		/* by --experiment */
};

/* Returns the index of the command in argv. */
static int parse_options(int argc, char **argv, struct options *o,
			 struct run *run)
{
	int c;

	while ((c = options_take(&cmd_run, argc, argv)) != -1) {
		if (run_options_take(&o->run, run, c, optarg))
			continue;
		switch (c) {
		case STATS:
			o->table = true;
			break;
		case JSON:
			o->json = optarg;
			break;
		case REAL:
			run->real = true;
			break;
		case DEVICE:
			run->real = true;
			run->device = true;
			break;
		}
	}
	if (optind == argc)
		run_options_misuse(&o->run, "no command: name it last, as in tense run -- ls");
	if (run->real && o->run.chosen)
		run_options_misuse(&o->run,
				   "--real excludes --percent, --clock, --idle and --experiment");
	if (run->real && !run->device && run->window_ns)
		run_options_misuse(&o->run, "--real excludes --window");
	return optind;
}

/* A guest shares no time with another guest, even if the names are equal. */
static void warn_of_guest(const struct run *run, const struct backend *backend,
			  bool asked)
{
	if (asked && backend->cpus_max)
		warn("--experiment %s: only programs in this run's guest share it: to start several in one guest, use tense shell",
		     run->experiment);
}

static int write_json(struct result_file *json, const struct run *run,
		      const struct backend *backend, int status,
		      const struct outcome *out, const void *stats)
{
	FILE *f = result_file_begin(json);

	return f ? result_file_end(json, stats_json(f, run, backend, status,
						    out, stats)) : -1;
}

static int run_command(struct run *run, struct options *o)
{
	struct result_file json = { 0 };
	const struct backend *backend;
	struct outcome out;
	void *stats;
	int status;

	if (o->json) {
		if (result_file_check(&json, o->json))
			return STATUS_FAILED;
		run_options_omit(&o->run, run, o->json);
	}
	backend = backend_choose(o->run.backend, &backend_exact, run);
	warn_of_guest(run, backend, o->named);
	backend->run(run, &out, &stats);
	status = setup_status(&out, run->argv);

	if (o->json && out.kind <= OUTCOME_SIGNALED &&
	    write_json(&json, run, backend, status, &out, stats))
		status = STATUS_FAILED;
	/* A guest that a signal ended has sent no statistics. */
	if (o->table && out.kind <= OUTCOME_SIGNALED && out.real_ns)
		stats_print(stderr, run, backend, &out, stats);
	result_file_free(&json);
	free(stats);
	return status;
}

static int main_run(int argc, char **argv)
{
	struct options o = { 0 };
	struct run run;
	int status;

	run_options_begin(&o.run, &run, "run", argc);
	run.argv = argv + parse_options(argc, argv, &o, &run);
	o.named = run.experiment;
	if (!run.real)
		run_options_experiment(&o.run, &run);
	run.stats = o.table || o.json;
	run_options_end(&o.run, &run);
	status = run_command(&run, &o);
	run_options_free(&o.run, &run);
	return status;
}

const struct subcommand cmd_run = {
	.name = "run",
	.summary = "run a program in virtual time, on this kernel or in a guest",
	.run = main_run,
	.usage =
		"Usage: tense run [OPTION...] [--] COMMAND [ARGUMENT...]\n"
		"\n"
		"Runs a command in an experiment, which has a virtual time of its own.\n",
	.options = options,
	.operands = "-c",
	.examples =
		"  tar c src | tense run -- pigz | wc -c\n"
		"  tense run --cpus 4 --stats --json run.json -- ./app\n"
		"  tense run --deterministic -- ./app\n",
	.notes =
		"Exit status: the command's; 128 + n if signal n ended it; 127 if it was not\n"
		"found, 126 if it could not be executed, 125 if tense failed or was misused.\n",
};
