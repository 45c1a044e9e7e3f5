// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "backend.h"
#include "commands.h"
#include "setup.h"
#include "stats.h"
#include "util.h"

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
"                   (default), monotonic: but not the time of day, or none\n"
"  --idle WHAT      while all of the command waits, virtual time follows the\n"
"                   real one (real, default), or goes to the next deadline at\n"
"                   once if nothing outside can end a wait before (skip)\n"
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
"Exit status: the command's; 128 + n if signal n ended it; 127 if it was not\n"
"found, 126 if it could not be executed, 125 if tense failed or was misused.\n";

static void __attribute__((noreturn, format(printf, 1, 2)))
misuse(const char *format, ...)
{
	va_list args;
	char line[300];

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	die(STATUS_FAILED, "run: %s: see tense run --help", line);
}

static unsigned int parse_percent(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end || errno || value < TENSE_PERCENT_MIN ||
	    value > TENSE_PERCENT_MAX)
		misuse("percent '%s' is not a number from %d to %d", text,
		       TENSE_PERCENT_MIN, TENSE_PERCENT_MAX);
	return value;
}

/* The index of a name in a list. */
static unsigned int parse_name(const char *what, const char *text,
			       const char *const *names)
{
	for (unsigned int i = 0; names[i]; i++)
		if (!strcmp(text, names[i]))
			return i;
	misuse("%s '%s' is not known", what, text);
}

struct options {
	const struct backend *backend;	/* NULL: to be chosen */
	const char *json;
	bool table;
	bool help;
	char **dirs;
	size_t nr_dirs;
};

/* Returns the index of the command in argv. */
static int parse_options(int argc, char **argv, struct options *o,
			 struct run *run)
{
	enum {
		BACKEND = 1, CPUS, MEMORY, PERCENT, CLOCK, IDLE, RW, STATS, JSON,
		REAL, DEVICE, HELP
	};
	static const struct option options[] = {
		{ "backend", required_argument, NULL, BACKEND },
		{ "cpus", required_argument, NULL, CPUS },
		{ "memory", required_argument, NULL, MEMORY },
		{ "percent", required_argument, NULL, PERCENT },
		{ "clock", required_argument, NULL, CLOCK },
		{ "idle", required_argument, NULL, IDLE },
		{ "rw", required_argument, NULL, RW },
		{ "stats", no_argument, NULL, STATS },
		{ "json", required_argument, NULL, JSON },
		{ "real", no_argument, NULL, REAL },
		{ "device", no_argument, NULL, DEVICE },
		{ "help", no_argument, NULL, HELP },
		{ 0 }
	};
	bool chosen = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		switch (c) {
		case BACKEND:
			if (!backend_find(optarg, &o->backend))
				misuse("unknown back end '%s'", optarg);
			break;
		case CPUS:
			setup_cpus(run, optarg);
			break;
		case MEMORY:
			setup_memory(run, optarg);
			break;
		case PERCENT:
			run->percent = parse_percent(optarg);
			chosen = true;
			break;
		case CLOCK:
			run->choice.clocks = parse_name("clock", optarg,
							clock_names);
			chosen = true;
			break;
		case IDLE:
			run->choice.idle = parse_name("idle", optarg,
						      idle_names);
			chosen = true;
			break;
		case RW:
			o->dirs[o->nr_dirs++] = setup_directory(optarg);
			break;
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
		case ':':
			misuse("%s needs an argument", argv[optind - 1]);
		default:
			misuse("unknown option '%s'", argv[optind - 1]);
		}
	}
	if (optind == argc)
		misuse("no command");
	if (run->real && chosen)
		misuse("--real excludes --percent, --clock and --idle");
	return optind;
}

/* A path that cannot be written is better found before the run. */
static FILE *open_json(const char *path)
{
	FILE *f = fopen(path, "ae");

	if (!f)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	return f;
}

/* Over what the file held before. */
static int write_json(FILE *f, const struct run *run, const char *backend,
		      int status, const struct outcome *out, const void *stats)
{
	/* A pipe or a device has no length. */
	if (ftruncate(fileno(f), 0) && errno != EINVAL)
		return -1;
	return stats_json(f, run, backend, status, out, stats);
}

static int run_command(struct run *run, struct options *o)
{
	FILE *json = o->json ? open_json(o->json) : NULL;
	struct outcome out;
	void *stats;
	int status;

	o->backend = backend_choose(o->backend, run);
	o->backend->run(run, &out, &stats);
	status = setup_status(&out, run->argv);

	if (json && out.kind <= OUTCOME_SIGNALED &&
	    write_json(json, run, o->backend->name, status, &out, stats)) {
		warn("%s: %s", o->json, strerror(errno));
		status = STATUS_FAILED;
	}
	if (o->table && out.kind <= OUTCOME_SIGNALED)
		stats_print(stderr, &out, stats,
			    o->backend == &backend_uml);
	if (json)
		fclose(json);
	free(stats);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run run = { .percent = TENSE_PERCENT_REAL };
	struct options o = { 0 };
	char *directory;
	int status = 0;

	setup_caller(&run);
	/* At most as many as there are arguments, the current one, NULL. */
	o.dirs = xmalloc((argc + 2) * sizeof(*o.dirs));
	run.argv = argv + parse_options(argc, argv, &o, &run);
	if (o.help) {
		fputs(usage, stdout);
		goto out;
	}
	run.stats = o.table || o.json;
	directory = getcwd(NULL, 0);
	if (!directory)
		die(STATUS_FAILED, "the current directory: %s",
		    strerror(errno));
	run.directory = directory;
	setup_writable(&run, o.dirs, o.nr_dirs);
	status = run_command(&run, &o);
	free(directory);
out:
	for (char **dir = o.dirs; *dir; dir++)
		free(*dir);
	free(o.dirs);
	return status;
}
