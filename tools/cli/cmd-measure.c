// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/options.h"
#include "base/result-file.h"
#include "names/program.h"
#include "base/util.h"
#include "base/duration.h"
#include "measure/measure-output.h"
#include "measure/protocol.h"
#include "measure/sample-sizes.h"
#include "measure/sampler.h"
#include "measure/tune.h"
#include "run/repeat-options.h"

#define RUNS_MAX	100000

enum { COMPARE = 1, PROTOCOL, K, EPSILON, CHOOSE_SAMPLES, CLOCK, COLD, COMPENSATE, RUNS, WARMUP, CUTOFFS,
       TUNE, DAEMONS, RESTORE, TIMEOUT, OUT_JSON, OUT_CSV, OUT_MARKDOWN };

static const struct option_row options[] = {
	{ "compare", NULL, NULL, COMPARE,
	  "run two commands by turns, each one word for a shell, and print the ratio of their times with its interval" },
	{ "protocol", "NAME", "emp k-best auto", PROTOCOL,
	  "emp (default); k-best: take samples until the K shortest elapsed times agree, and print the shortest; or auto: the one that fits the length of the command and the load of the machine" },
	{ "runs", "N", NULL, RUNS,
	  "number of samples of each command, default 10; with k-best the most, default 30; with --choose-samples 300" },
	{ "k", "N", NULL, K,
	  "with k-best: number of times that must agree, at most 64; default 3" },
	{ "epsilon", "E", NULL, EPSILON, "with k-best: times agree if they differ by at most this fraction of the shortest; default 0.001. With --choose-samples: a subset's mean may differ from the mean of all by this fraction; default 0.01" },
	{ "choose-samples", NULL, NULL, CHOOSE_SAMPLES,
	  "take 300 samples, halve them again and again, and print how many samples suffice" },
	{ "clock", "NAME", "gettime raw counter", CLOCK,
	  "clock of the elapsed time: gettime (default), which is CLOCK_MONOTONIC; raw, whose rate nobody corrects; or counter, the CPU's cycle counter" },
	{ "cold", NULL, NULL, COLD, "empty the caches of the CPUs before each run" },
	{ "compensate", NULL, NULL, COMPENSATE,
	  "subtract timer interrupts at their least cost from the elapsed time" },
	{ "warmup", "N", NULL, WARMUP,
	  "number of runs before the first sample; default 1" },
	{ "cutoffs", "FILE", "-f", CUTOFFS,
	  "how long daemons may run during a sample: CSV or JSON of tense daemons cutoffs; default the cutoffs that tense daemons learn stored" },
	{ "tune", NULL, NULL, TUNE,
	  "during the measurement, change daemons, turbo mode and frequency governor so that they disturb less" },
	{ "daemons", "FILE", "-f", DAEMONS,
	  "with --tune: stop the daemons of this list, if they run, instead of those of Tense's own list" },
	{ "restore", NULL, NULL, RESTORE,
	  "undo the changes of a --tune that was killed" },
	{ "timeout", "TIME", NULL, TIMEOUT,
	  "kill a run that takes longer, as in 90s or 5m" },
	REPEAT_OPTION_ROWS,
	{ "json", "FILE", "-f", OUT_JSON,
	  "write all samples and results; - is standard output, and then no table is printed" },
	{ "csv", "FILE", "-f", OUT_CSV,
	  "write the table as comma-separated values; - is standard output" },
	{ "markdown", "FILE", "-f", OUT_MARKDOWN,
	  "write the table in Markdown; - is standard output" },
	OPTIONS_END
};

enum { JSON, CSV, MARKDOWN, OUTPUTS };

static int (*const writers[])(FILE *f, const struct measurement *m) = {
	[JSON] = measure_json, [CSV] = measure_csv,
	[MARKDOWN] = measure_markdown,
};

struct request {
	struct measurement m;
	struct sampler_options options;
	const char *cutoffs;
	const char *daemons;	/* NULL: the list of Tense */
	const char *outputs[OUTPUTS];
	struct result_file files[OUTPUTS];
	size_t k;		/* 0: the default */
	bool compare;
	bool restore;
	bool compensate;
};

static int parse_count(const char *option, const char *text, size_t min,
		       size_t max, size_t *count)
{
	char *end;

	errno = 0;
	*count = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *count >= min &&
	    *count <= max)
		return 0;
	warn("measure: --%s '%s' is not a number from %zu to %zu", option,
	     text, min, max);
	return -1;
}

static int parse_protocol(const char *text, enum protocol *protocol)
{
	for (*protocol = PROTOCOL_EMP; *protocol <= PROTOCOL_AUTO; ++*protocol)
		if (!strcmp(text, protocol_name(*protocol)))
			return 0;
	warn("measure: --protocol '%s' is not emp, k-best or auto", text);
	return -1;
}

static int parse_clock(const char *text, enum stopwatch_clock *clock)
{
	for (int i = 0; i < NR_STOPWATCH_CLOCKS; i++) {
		if (!strcmp(text, stopwatch_name(i))) {
			*clock = i;
			return 0;
		}
	}
	warn("measure: --clock '%s' is not gettime, raw or counter", text);
	return -1;
}

/* A fraction, or with its sign a percentage. */
static int parse_epsilon(const char *text, double *epsilon)
{
	bool is_number = *text >= '0' && *text <= '9', percent;
	char *end;

	*epsilon = strtod(text, &end);
	percent = !strcmp(end, "%");
	if (percent)
		*epsilon /= 100;
	if (is_number && (!*end || percent) && *epsilon < 1)
		return 0;
	if (is_number && !*end)
		warn("measure: --epsilon '%s' is a fraction, below 1: for %s percent, write %g or %s%%",
		     text, text, *epsilon / 100, text);
	else
		warn("measure: --epsilon '%s' is not a fraction from 0 to 1, for example 0.001",
		     text);
	return -1;
}

/* Can a measurement take K-best? --protocol auto can, but a comparison is by EMP. */
static bool may_take_kbest(const struct request *r)
{
	return r->m.asked == PROTOCOL_KBEST ||
	       (r->m.asked == PROTOCOL_AUTO && !r->compare);
}

/* 0, or -1 after a message. */
static int check_combination(struct request *r)
{
	if (!may_take_kbest(r) &&
	    (r->k || (r->m.epsilon >= 0 && !r->m.choose_samples)))
		warn("measure: --k and --epsilon apply only to --protocol k-best");
	else if (r->compare && r->m.asked == PROTOCOL_KBEST)
		warn("measure: --compare applies only to --protocol emp");
	else if (r->m.asked == PROTOCOL_AUTO && !r->compare && !r->m.warmup)
		warn("measure: --protocol auto needs a warm-up, which tells it how long the command takes: --warmup 1");
	else
		return 0;
	return -1;
}

/* 0, or -1 after a message. */
static int check_choice(struct request *r)
{
	if (!r->m.choose_samples)
		return 0;
	if (!r->m.runs)
		r->m.runs = SAMPLE_SIZES_RUNS;
	r->m.sizes_epsilon = r->m.epsilon < 0 ? 0.01 : r->m.epsilon;
	if (r->compare || r->m.asked != PROTOCOL_EMP)
		warn("measure: --choose-samples applies only to one command and --protocol emp");
	else if (r->m.runs < 2 * SAMPLE_SIZES_LEAST)
		warn("measure: --runs %zu are too few to halve: --choose-samples needs %d",
		     r->m.runs, 2 * SAMPLE_SIZES_LEAST);
	else
		return 0;
	return -1;
}

/* 0, or -1 after a message. */
static int check_protocol(struct request *r)
{
	bool kbest;

	if (check_combination(r) || check_choice(r))
		return -1;
	kbest = may_take_kbest(r);
	r->m.protocol = kbest ? PROTOCOL_KBEST : PROTOCOL_EMP;
	r->m.emp_runs = r->m.runs ? r->m.runs : 10;
	r->m.k = r->k ? (unsigned int)r->k : 3;
	if (r->m.epsilon < 0)
		r->m.epsilon = 0.001;
	if (!r->m.runs)
		r->m.runs = kbest ? 30 : r->m.emp_runs;
	if (!kbest || r->m.runs >= r->m.k)
		return 0;
	warn("measure: --runs %zu are fewer than have to agree, %u (--k)",
	     r->m.runs, r->m.k);
	return -1;
}

/* 0, or -1 after a message. */
static int check_tuning(const struct request *r)
{
	if (!r->daemons || r->m.tuned)
		return 0;
	warn("measure: --daemons applies only to --tune");
	return -1;
}

static int parse_timeout(const char *text, double *seconds)
{
	if (!parse_duration(text, seconds) && *seconds > 0)
		return 0;
	warn("measure: --timeout '%s' is not a time: write it as in 90s or 5m",
	     text);
	return -1;
}

/* 0, or -1 after a message. */
static int parse_options(int argc, char **argv, struct request *r)
{
	int c, err = 0;

	while (!err && (c = options_take(&cmd_measure, argc, argv)) != -1) {
		switch (c) {
		case COMPARE:
			r->compare = true;
			break;
		case PROTOCOL:
			err = parse_protocol(optarg, &r->m.asked);
			break;
		case K:
			err = parse_count("k", optarg, 1, KBEST_MAX, &r->k);
			break;
		case EPSILON:
			err = parse_epsilon(optarg, &r->m.epsilon);
			break;
		case CHOOSE_SAMPLES:
			r->m.choose_samples = true;
			break;
		case CLOCK:
			err = parse_clock(optarg, &r->m.clock);
			break;
		case COLD:
			r->m.cold = true;
			break;
		case COMPENSATE:
			r->compensate = true;
			break;
		case RUNS:
			err = parse_count("runs", optarg, 1, RUNS_MAX,
					  &r->m.runs);
			break;
		case WARMUP:
			err = parse_count("warmup", optarg, 0, RUNS_MAX,
					  &r->m.warmup);
			break;
		case CUTOFFS:
			r->cutoffs = optarg;
			break;
		case TUNE:
			r->m.tuned = true;
			break;
		case DAEMONS:
			r->daemons = optarg;
			break;
		case RESTORE:
			r->restore = true;
			break;
		case TIMEOUT:
			err = parse_timeout(optarg, &r->options.timeout);
			break;
		case REPEAT_PREPARE:
			r->options.prepare = optarg;
			break;
		case REPEAT_INPUT:
			r->options.input = optarg;
			break;
		case REPEAT_IGNORE_FAILURE:
			r->options.ignore_failure = true;
			break;
		case REPEAT_SHOW_OUTPUT:
			r->options.show_output = true;
			break;
		case REPEAT_QUIET:
			r->options.quiet = true;
			break;
		case OUT_JSON:
		case OUT_CSV:
		case OUT_MARKDOWN:
			r->outputs[c - OUT_JSON] = optarg;
			break;
		}
	}
	return err;
}

static char *join(char *const *argv)
{
	char *text = xstrdup(argv[0]);

	for (size_t i = 1; argv[i]; i++) {
		char *longer = xprintf("%s %s", text, argv[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* 0, or the status to exit with after a message. */
static int check_command(const char *name)
{
	char *path = find_command(name);

	if (!path) {
		int error = errno;

		warn("%s: %s", name, command_error(name, error));
		return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	}
	free(path);
	return 0;
}

/* Takes all of them; argv points into words, or elsewhere if that is NULL. */
static void add_subject(struct measurement *m, char *title, char **argv,
			char *words)
{
	m->subjects = xrealloc(m->subjects, (m->nr_subjects + 1) *
					    sizeof(*m->subjects));
	m->subjects[m->nr_subjects++] = (struct subject){
		.title = title, .argv = argv, .words = words,
	};
}

/* Where there is nothing for a shell to do: its start takes time. */
static bool is_simple(const char *text)
{
	return !text[strcspn(text, "|&;<>()$`\\\"'*?[]#~=%{}!\n")];
}

static char **split(char *words)
{
	char **argv = NULL, *word;
	size_t count = 0;

	for (word = strtok(words, " \t"); word; word = strtok(NULL, " \t")) {
		argv = xrealloc(argv, (count + 2) * sizeof(*argv));
		argv[count++] = word;
		argv[count] = NULL;
	}
	return argv;
}

static char **shell(char *words)
{
	char *const argv[] = { "sh", "-c", words, NULL };

	return memcpy(xmalloc(sizeof(argv)), argv, sizeof(argv));
}

static int add_shell_subject(struct measurement *m, const char *text)
{
	char *words, **argv;

	if (!text[strspn(text, " \t\n")]) {
		warn("measure: --compare: a command is empty");
		return STATUS_FAILED;
	}
	words = xstrdup(text);
	argv = is_simple(text) ? split(words) : shell(words);
	add_subject(m, xstrdup(text), argv, words);
	return check_command(argv[0]);
}

static int add_subjects(struct request *r, int argc, char **argv)
{
	char **copy;
	int status;

	if (!argc) {
		warn("measure: no command: give it after two dashes, as in tense measure -- ls: see tense measure --help");
		return STATUS_FAILED;
	}
	if (!r->compare) {
		copy = xmalloc((argc + 1) * sizeof(*copy));
		memcpy(copy, argv, argc * sizeof(*copy));
		add_subject(&r->m, join(copy), copy, NULL);
		return check_command(argv[0]);
	}
	if (argc != 2) {
		warn("measure: --compare needs two commands, each of them one word, as in tense measure --compare 'sort a' 'sort -u a'");
		return STATUS_FAILED;
	}
	status = add_shell_subject(&r->m, argv[0]);
	return status ? status : add_shell_subject(&r->m, argv[1]);
}

static int check_stdout(const struct request *r)
{
	size_t count = options_on_stdout(r->outputs, OUTPUTS);

	if (count > 1)
		warn("measure: only one of --json, --csv and --markdown can be written to -, standard output");
	else if (count && r->options.show_output)
		warn("measure: --show-output would mix what the command prints with what is written to -: name a file");
	else
		return 0;
	return -1;
}

/* Check this before the measurement takes hours. */
static int open_files(struct request *r)
{
	if (check_stdout(r))
		return -1;
	if (access(r->options.input, R_OK)) {
		warn("%s: %s", r->options.input, strerror(errno));
		return -1;
	}
	return result_files_check(r->files, r->outputs, OUTPUTS);
}

static int write_as(FILE *f, size_t form, const void *arg)
{
	return writers[form](f, arg);
}

static int write_results(struct request *r)
{
	if (result_files_write(r->files, OUTPUTS, write_as, &r->m))
		return STATUS_FAILED;
	if (!options_on_stdout(r->outputs, OUTPUTS))
		measure_text(stdout, &r->m);
	return 0;
}

/* 0, or -1 after a message. */
static int tune(const struct request *r, const struct machine *machine)
{
	struct daemon_list daemons;
	int err;

	if (daemon_list_read(&daemons, r->daemons))
		return -1;
	err = tune_begin(machine, &daemons);
	daemon_list_free(&daemons);
	return err;
}

/* If the cost cannot be measured, the measurement goes on without compensation. */
static void begin_compensation(struct request *r, const char *root)
{
	const char *why;

	if (r->compensate &&
	    compensation_begin(&r->m.compensation, root, &why))
		warn("--compensate: timer interrupts stay in the elapsed times: %s",
		     why);
}

/* Puts the machine back before the table is printed: others use it. */
static int take_samples(struct request *r)
{
	const struct machine machine = machine_here();
	int status;

	command_prepare();
	if (r->m.tuned && tune(r, &machine))
		return STATUS_FAILED;
	r->m.changes = *tune_changes();
	environment_read(&r->m.environment, machine.root);
	begin_compensation(r, machine.root);
	status = sampler_run(&r->m, &r->options);
	return tune_end() && !status ? STATUS_FAILED : status;
}

static int measure(struct request *r)
{
	int status;

	if (r->cutoffs ? cutoffs_load(&r->m.cutoffs, r->cutoffs) :
			 cutoffs_load_default(&r->m.cutoffs))
		return STATUS_FAILED;
	if (open_files(r))
		return STATUS_FAILED;
	status = take_samples(r);
	if (status)
		return status;
	measure_assess(&r->m);
	return write_results(r);
}

static int restore(const struct request *r, int argc)
{
	const struct machine machine = machine_here();

	if (argc || r->m.tuned || r->daemons) {
		warn("measure: --restore measures no command: use it alone");
		return STATUS_FAILED;
	}
	return tune_restore(&machine) ? STATUS_FAILED : 0;
}

static int main_measure(int argc, char **argv)
{
	struct request r = {
		.m = { .epsilon = -1, .warmup = 1 },
		.options = { .input = "/dev/null" },
	};
	int status;

	if (parse_options(argc, argv, &r))
		return STATUS_FAILED;
	if (r.restore)
		return restore(&r, argc - optind);
	if (check_protocol(&r) || check_tuning(&r))
		return STATUS_FAILED;
	status = add_subjects(&r, argc - optind, argv + optind);
	if (!status)
		status = measure(&r);
	result_files_free(r.files, OUTPUTS);
	measure_free(&r.m);
	return status;
}

const struct subcommand cmd_measure = {
	.name = "measure",
	.summary = "measure how long a command takes, with an interval",
	.run = main_measure,
	.usage =
		"Usage: tense measure [OPTION...] -- COMMAND [ARGUMENT...]\n"
		"       tense measure [OPTION...] --compare COMMAND COMMAND\n"
		"       tense measure --restore\n"
		"\n"
		"Measures the elapsed time of a command and the process time of all its\n"
		"processes, with 95 % intervals, and lists what else ran meanwhile (protocol\n"
		"EMP). Drops the samples that a daemon spoiled, then those beyond two standard\n"
		"deviations.\n",
	.options = options,
	.operands = "-c",
	.examples =
		"  tense measure -- pigz -kf linux.tar\n"
		"  tense measure --runs 20 --compare 'pigz -kf a' 'pigz -9kf a'\n",
	.notes =
		"Exit status: 0; 1 if the command failed or was too slow; 125 if tense failed or\n"
		"was misused; 126 or 127 if the command cannot be run or was not found.\n",
};
