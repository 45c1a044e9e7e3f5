// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "base/duration.h"
#include "base/options.h"
#include "base/result-file.h"
#include "base/util.h"
#include "activity/hogs.h"
#include "activity/output.h"
#include "libtense/measure/ticks.h"

#define LOADS_MAX	8
#define SECONDS_MAX	600
#define ERROR_SECONDS_MAX	10
#define ERROR_SAMPLES	5
#define PERIODS_LISTED	10

enum option_name { DURATION = 1, THRESHOLD, CPU, LOAD, PERIODS, INTERVAL_ERROR,
		   OUT_JSON, OUT_CSV, OUT_SVG };

static const struct option_row options[] = {
	{ "duration", "TIME", NULL, DURATION,
	  "length of each recording, as in 300ms or 2s; default 1s" },
	{ "threshold", "CYCLES", NULL, THRESHOLD,
	  "a longer time between two readings is an inactive period, in cycles, or as a time such as 2us; default 20 turns of the loop" },
	{ "cpu", "N", NULL, CPU,
	  "run on CPU N; default the CPU on which tense starts" },
	{ "load", "LIST", NULL, LOAD,
	  "number of busy processes to add on that CPU; a list such as 0,1,10 makes a recording with each number; default 0" },
	{ "periods", "N", NULL, PERIODS,
	  "list the first N inactive periods; default 10" },
	{ "interval-error", NULL, NULL, INTERVAL_ERROR,
	  "measure instead the errors of clocks for computations of known length, up to --duration, default 200ms; --load is by default 0,10" },
	{ "json", "[FILE]", "-f", OUT_JSON,
	  "write all periods and results, to standard output or to FILE" },
	{ "csv", "FILE", "-f", OUT_CSV,
	  "write all periods, or with --interval-error all samples, as comma-separated values; - is standard output" },
	{ "svg", "FILE", "-f", OUT_SVG, "draw them; - is standard output" },
	OPTIONS_END
};

enum { JSON, CSV, SVG, OUTPUTS, TEXT = OUTPUTS };

struct loads {
	unsigned int list[LOADS_MAX];
	size_t count;
};

struct request {
	double seconds;		/* 0: the default */
	const char *threshold;	/* NULL: the default */
	int cpu;		/* -1: the one that it is on */
	struct loads loads;
	size_t listed;
	bool interval_error;
	const char *outputs[OUTPUTS];
	struct result_file files[OUTPUTS];
};

static int parse_number(const char *option, const char *text,
			unsigned long most, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number <= most)
		return 0;
	warn("trace-activity: --%s '%s' is not a number from 0 to %lu", option,
	     text, most);
	return -1;
}

static int add_load(struct loads *loads, const char *text)
{
	unsigned long number;

	if (parse_number("load", text, HOGS_MAX, &number))
		return -1;
	for (size_t i = 0; i < loads->count; i++) {
		if (loads->list[i] == number) {
			warn("trace-activity: --load %lu is there twice",
			     number);
			return -1;
		}
	}
	if (loads->count == LOADS_MAX) {
		warn("trace-activity: --load has more than %d numbers",
		     LOADS_MAX);
		return -1;
	}
	loads->list[loads->count++] = (unsigned int)number;
	return 0;
}

static int parse_loads(const char *text, struct loads *loads)
{
	char *copy = xstrdup(text), *rest = copy, *word;
	int err = 0;

	loads->count = 0;
	while (!err && (word = strsep(&rest, ",")))
		err = add_load(loads, word);
	free(copy);
	return err;
}

static int parse_seconds(const char *text, double *seconds)
{
	if (!parse_duration(text, seconds) && *seconds > 0)
		return 0;
	warn("trace-activity: --duration '%s' is not a time: write it as in 300ms or 2s",
	     text);
	return -1;
}

/* 0, or -1 after a message. */
static int set_option(struct request *r, enum option_name option, char *argument)
{
	unsigned long number = 0;
	int err = 0;

	switch (option) {
	case DURATION:
		return parse_seconds(argument, &r->seconds);
	case THRESHOLD:
		r->threshold = argument;
		break;
	case CPU:
		err = parse_number("cpu", argument, INT32_MAX - 1, &number);
		r->cpu = (int)number;
		break;
	case LOAD:
		return parse_loads(argument, &r->loads);
	case PERIODS:
		err = parse_number("periods", argument, RECORD_GAPS_MAX,
				   &number);
		r->listed = number;
		break;
	case INTERVAL_ERROR:
		r->interval_error = true;
		break;
	case OUT_JSON:
	case OUT_CSV:
	case OUT_SVG:
		r->outputs[option - OUT_JSON] = argument ? argument : "-";
		break;
	default:
		break;
	}
	return err;
}

/* 0, or -1 after a message. */
static int parse_options(int argc, char **argv, struct request *r)
{
	int c;

	while ((c = options_take(&cmd_trace_activity, argc, argv)) != -1)
		if (set_option(r, c, optarg))
			return -1;
	return options_refuse_operands(&cmd_trace_activity, argc, argv);
}

/* Sets the defaults of missing options. 0, or -1 after a message. */
static int complete(struct request *r)
{
	double most = r->interval_error ? ERROR_SECONDS_MAX : SECONDS_MAX;
	double least = r->interval_error ? 0.001 : 0;

	if (r->seconds <= 0)
		r->seconds = r->interval_error ? 0.2 : 1;
	if (options_on_stdout(r->outputs, OUTPUTS) > 1) {
		warn("trace-activity: only one of --json, --csv and --svg can be written to -, standard output");
		return -1;
	}
	if (!r->loads.count)
		r->loads = r->interval_error ?
			   (struct loads){ { 0, 10 }, 2 } :
			   (struct loads){ { 0 }, 1 };
	if (r->seconds >= least && r->seconds <= most)
		return 0;
	warn("trace-activity: --duration is %g s: should be %s%g s", r->seconds,
	     r->interval_error ? "0.001 s to " : "at most ", most);
	return -1;
}

static int set_threshold(const struct request *r, struct watcher *w)
{
	const double ns = w->counter.ns;
	const struct unit units[] = { { "", 1 }, { "ns", 1 / ns },
				      { "us", 1e3 / ns }, { "ms", 1e6 / ns } };
	const char *unit = unit_name(w);
	double value;

	if (!r->threshold)
		return 0;
	if (parse_with_unit(r->threshold, units,
			    sizeof(units) / sizeof(units[0]), &value)) {
		warn("trace-activity: --threshold '%s' is not a number of %s or a time: write it as in 2000 or 1us",
		     r->threshold, unit);
		return -1;
	}
	if (value < 2 * (double)w->turn) {
		warn("trace-activity: --threshold %s is too short: a turn of the loop takes %ju %s, and a gap has to be twice as long at least",
		     r->threshold, (uintmax_t)w->turn, unit);
		return -1;
	}
	if (value * ns > r->seconds * 1e9) {
		warn("trace-activity: --threshold %s is longer than all of the time",
		     r->threshold);
		return -1;
	}
	w->threshold = (uint64_t)value;
	return 0;
}

/* One of both. */
struct result {
	const struct activity *activity;
	const struct interval_errors *errors;
};

static int write_as(FILE *f, size_t form, const void *arg)
{
	const struct result *result = arg;
	static int (*const activity[])(FILE *f, const struct activity *a) = {
		[JSON] = activity_json, [CSV] = activity_csv,
		[SVG] = activity_svg, [TEXT] = activity_text,
	};
	static int (*const errors[])(FILE *f, const struct interval_errors *e) = {
		[JSON] = errors_json, [CSV] = errors_csv, [SVG] = errors_svg,
		[TEXT] = errors_text,
	};

	return result->errors ? errors[form](f, result->errors) :
				activity[form](f, result->activity);
}

/* The table is for a standard output that nothing else is written to. */
static int write_outputs(struct request *r, const struct result *result)
{
	if (result_files_write(r->files, OUTPUTS, write_as, result))
		return STATUS_FAILED;
	if (!options_on_stdout(r->outputs, OUTPUTS))
		write_as(stdout, TEXT, result);
	return 0;
}

static int record_all(const struct request *r, struct activity *a)
{
	struct hogs hogs;

	for (; a->count < r->loads.count; a->count++) {
		struct recording *one = &a->recordings[a->count];

		*one = (struct recording){ .load = r->loads.list[a->count] };
		if (hogs_start(&hogs, one->load))
			return -1;
		watcher_record(&a->watcher, one, r->seconds);
		periods_analyse(one);
		/* Beside others, each tick can be the end of a slice. */
		if (!(one->least_ns > 0))
			one->least_ns = ticks_least(&a->watcher.counter);
		hogs_stop(&hogs);
		if (one->full)
			warn("trace-activity: ended early, after %d inactive periods: --threshold is too short for this machine",
			     RECORD_GAPS_MAX);
	}
	return 0;
}

static int trace_activity(struct request *r, const struct watcher *w)
{
	struct activity a = {
		.watcher = *w, .listed = r->listed,
		.recordings = xmalloc(r->loads.count * sizeof(*a.recordings)),
	};
	int status = record_all(r, &a) ? STATUS_FAILED :
		     write_outputs(r, &(struct result){ .activity = &a });

	for (size_t i = 0; i < a.count; i++)
		recording_free(&a.recordings[i]);
	free(a.recordings);
	return status;
}

static int measure_errors(struct request *r, const struct watcher *w)
{
	struct interval_errors e = {
		.watcher = *w,
		.tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK),
	};
	struct hogs hogs;
	int status = 0;

	for (size_t i = 0; i < r->loads.count && !status; i++) {
		if (hogs_start(&hogs, r->loads.list[i])) {
			status = STATUS_FAILED;
			break;
		}
		error_measure(&e.samples, w, r->loads.list[i],
			      r->seconds * 1e3, ERROR_SAMPLES);
		hogs_stop(&hogs);
	}
	if (!status) {
		e.nr_rows = error_rows(&e.samples, &e.rows);
		status = write_outputs(r, &(struct result){ .errors = &e });
	}
	free(e.rows);
	free(e.samples.list);
	return status;
}

static int main_trace_activity(int argc, char **argv)
{
	struct request r = { .cpu = -1, .listed = PERIODS_LISTED };
	struct watcher w;
	int status = STATUS_FAILED;

	if (!parse_options(argc, argv, &r) && !complete(&r) &&
	    !result_files_check(r.files, r.outputs, OUTPUTS) &&
	    !watcher_prepare(&w, r.cpu) && !set_threshold(&r, &w))
		status = r.interval_error ? measure_errors(&r, &w) :
					    trace_activity(&r, &w);
	result_files_free(r.files, OUTPUTS);
	return status;
}

const struct subcommand cmd_trace_activity = {
	.name = "trace-activity",
	.summary = "show when a program has its CPU and what interrupts it",
	.run = main_trace_activity,
	.usage =
		"Usage: tense trace-activity [OPTION...]\n"
		"\n"
		"Shows when a program had its CPU. A loop reads the cycle counter; if two\n"
		"readings are far apart, something else ran in between. Prints the presumed\n"
		"cause of each such inactive period, how often the timer interrupts, and the\n"
		"cost of an interrupt.\n",
	.options = options,
	.examples =
		"  tense trace-activity --cpu 0 --load 0,1,10 --svg activity.svg\n",
	.notes =
		"Exit status: 0, or 125 if tense failed or was misused.\n",
};
