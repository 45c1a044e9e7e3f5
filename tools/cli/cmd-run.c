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
#include "run/setup.h"
#include "run/stats.h"
#include "base/util.h"

static const char usage[] =
"Usage: tense run [OPTION...] [--] COMMAND [ARGUMENT...]\n"
"\n"
"Runs a command in an experiment: in virtual time.\n"
"\n"
"  --backend NAME   native: on this kernel, which needs /dev/tense\n"
"                   uml: on a kernel that runs as a process, built on first use\n"
"                   qemu: on a kernel in a virtual machine with several CPUs\n"
"                   auto (default): native if it can be had, else uml, or qemu\n"
"                   for more than one CPU\n"
"  --cpus N         uml, qemu: CPUs of the guest\n"
"  --memory SIZE    uml, qemu: its memory, in MiB or with M or G behind it\n"
"  --percent P      speed of the command, 1 to 100000: 200 is twice as fast as\n"
"                   real; default 100\n"
"  --clock WHICH    the clocks that are virtual, and what waits by them: all\n"
"                   (default), monotonic: but not the time of day, or none;\n"
"                   unordered lets readings on two CPUs be a window apart\n"
"  --idle WHAT      while all of the command waits, virtual time follows the\n"
"                   real one (real, default), or goes to the next deadline at\n"
"                   once if nothing outside can end a wait before (skip)\n"
"  --window TIME    how far CPUs may be apart in virtual time: 20us to 100ms,\n"
"                   default 500us\n"
"  --deterministic  count instructions instead of time, in an emulated guest with\n"
"                   copies of files: each run is like the other to the last digit\n"
"  --file PATH      --deterministic: a file or directory that the command needs\n"
"                   beyond its libraries and those in the current one; may be\n"
"                   repeated\n"
"  --rw DIR         uml, qemu: a directory that the command may write to,\n"
"                   besides the current one and /tmp, where writes are lost; may\n"
"                   be repeated\n"
"  --stats          print what the run cost, in real and virtual time\n"
"  --json FILE      write that to FILE\n"
"  --real           run in real time on the same kernel, for comparison\n"
"  --device         as --real, and have /dev/tense there, to be joined by the\n"
"                   command itself\n"
"  --help           print this text\n"
"\n"
"TIME is a number with its unit: ns, us, ms, s, m, h or d.\n"
"\n"
"Exit status: the command's; 128 + n if signal n ended it; 127 if it was not\n"
"found, 126 if it could not be executed, 125 if tense failed or was misused.\n";

struct options {
	struct run_options run;
	const char *json;
	bool table;
	bool help;
};

/* Returns the index of the command in argv. */
static int parse_options(int argc, char **argv, struct options *o,
			 struct run *run)
{
	enum { STATS = 1, JSON, REAL, DEVICE, HELP };
	static const struct option options[] = {
		RUN_OPTIONS,
		{ "stats", no_argument, NULL, STATS },
		{ "json", required_argument, NULL, JSON },
		{ "real", no_argument, NULL, REAL },
		{ "device", no_argument, NULL, DEVICE },
		{ "help", no_argument, NULL, HELP },
		{ 0 }
	};
	int c;

	while ((c = options_next("run", argc, argv, "+:h", options,
				 NULL)) != -1) {
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
		case 'h':
		case HELP:
			o->help = true;
			return argc;
		default:
			exit(STATUS_FAILED);
		}
	}
	if (optind == argc)
		run_options_misuse(&o->run, "no command");
	if (run->real && o->run.chosen)
		run_options_misuse(&o->run,
				   "--real excludes --percent, --clock and --idle");
	if (run->real && !run->device && run->window_ns)
		run_options_misuse(&o->run, "--real excludes --window");
	return optind;
}

static int write_json(struct result_file *json, const struct run *run,
		      const char *backend, int status,
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
	backend = backend_choose(o->run.backend, run);
	backend->run(run, &out, &stats);
	status = setup_status(&out, run->argv);

	if (o->json && out.kind <= OUTCOME_SIGNALED &&
	    write_json(&json, run, backend->name, status, &out, stats))
		status = STATUS_FAILED;
	/* A guest that a signal ended has sent no statistics. */
	if (o->table && out.kind <= OUTCOME_SIGNALED && out.real_ns)
		stats_print(stderr, run, &out, stats,
			    backend == &backend_uml);
	result_file_free(&json);
	free(stats);
	return status;
}

static int main_run(int argc, char **argv)
{
	struct options o = { 0 };
	struct run run;
	int status = 0;

	run_options_begin(&o.run, &run, "run", argc);
	run.argv = argv + parse_options(argc, argv, &o, &run);
	run.stats = o.table || o.json;
	if (o.help) {
		fputs(usage, stdout);
	} else {
		run_options_end(&o.run, &run);
		status = run_command(&run, &o);
	}
	run_options_free(&o.run, &run);
	return status;
}

const struct subcommand cmd_run = {
	.name = "run",
	.summary = "run a program in virtual time, on this kernel or on another",
	.run = main_run,
};
