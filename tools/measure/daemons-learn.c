// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json-text.h"
#include "base/options.h"
#include "base/paths.h"
#include "base/result-file.h"
#include "base/util.h"
#include "daemons.h"
#include "base/duration.h"
#include "learn-plan.h"
#include "learnt-file.h"
#include "learnt-text.h"
#include "sampler.h"
#include "scatter.h"

#define MOST_SAMPLES		100000

/* Counts so far, to find how far it gets in a second. */
#define CALIBRATION_MILLIONS	100
#define CALIBRATION_RUNS	3

struct request {
	struct learn_plan plan;
	struct periods periods;
	const char *store;
	const char *csv;
	const char *svg;
	bool plot;
	bool json;
	bool quiet;
};

static const char *const length_options[] = {
	[TASK_SHORT] = "task-length", [TASK_LONG] = "long-length",
};

static const char *const samples_options[] = {
	[TASK_SHORT] = "samples", [TASK_LONG] = "long-samples",
};

static int parse_length(struct request *r, enum task_length length,
			const char *text)
{
	if (!parse_duration(text, &r->plan.length[length]) &&
	    r->plan.length[length] > 0)
		return 0;
	warn("daemons learn: --%s '%s' is not a time: write it as in 1s or 2m",
	     length_options[length], text);
	return -1;
}

static int parse_samples(struct request *r, enum task_length length,
			 const char *text)
{
	static const struct unit none = { "", 1 };
	double count;

	if (length == TASK_LONG && !strcmp(text, "0")) {
		r->plan.short_only = true;
		return 0;
	}
	if (!parse_with_unit(text, &none, 1, &count) &&
	    count >= LEARN_LEAST_SAMPLES && count <= MOST_SAMPLES &&
	    count == floor(count)) {
		r->plan.samples[length] = (size_t)count;
		return 0;
	}
	warn("daemons learn: --%s '%s' is not a number from %d to %d%s",
	     samples_options[length], text, LEARN_LEAST_SAMPLES, MOST_SAMPLES,
	     length == TASK_LONG ? ", nor 0 for none" : "");
	return -1;
}

static int parse_time(struct request *r, const char *text)
{
	if (!parse_duration(text, &r->plan.time) && r->plan.time > 0)
		return 0;
	warn("daemons learn: --time '%s' is not a time: write it as in 20m or 3h",
	     text);
	return -1;
}

/* 0, or -1 after a message. */
static int parse_options(const struct subcommand *command, int argc,
			 char **argv, struct request *r)
{
	int c, err = 0;

	while (!err && (c = options_take(command, argc, argv)) != -1) {
		switch (c) {
		case LENGTH:
		case LONG_LENGTH:
			err = parse_length(r, c - LENGTH, optarg);
			break;
		case SAMPLES:
		case LONG_SAMPLES:
			err = parse_samples(r, c - SAMPLES, optarg);
			break;
		case TIME:
			err = parse_time(r, optarg);
			break;
		case PERIODS:
			err = periods_parse(&r->periods, optarg);
			break;
		case CUTOFFS:
			r->store = optarg;
			break;
		case CSV:
			r->csv = optarg;
			break;
		case SVG:
			r->svg = optarg;
			break;
		case PLOT:
			r->plot = true;
			break;
		case JSON:
			r->json = true;
			break;
		case QUIET:
			r->quiet = true;
			break;
		}
	}
	return err ? -1 : options_refuse_operands(command, argc, argv);
}

/* 0, or -1 after a message. */
static int make_plan(struct learn_plan *plan)
{
	double least = learn_plan_complete(plan);

	if (least <= 0)
		return 0;
	warn("daemons learn: --time %g s is too short%s: give it at least %.0f s%s",
	     plan->time, plan->short_only ? "" : " for short and long tasks",
	     ceil(least), plan->short_only ? " or a shorter --task-length" :
	     ", a shorter --task-length, or --long-samples 0");
	return -1;
}

/* 0, or -1 after a message. */
static int check_request(struct request *r)
{
	struct learn_plan *plan = &r->plan;

	if (plan->short_only && plan->length[TASK_LONG] > 0) {
		warn("daemons learn: --long-length and --long-samples 0 contradict each other");
		return -1;
	}
	if (make_plan(plan))
		return -1;
	if (plan->short_only ||
	    plan->length[TASK_LONG] > plan->length[TASK_SHORT])
		return 0;
	warn("daemons learn: --long-length %g s is not longer than --task-length %g s",
	     plan->length[TASK_LONG], plan->length[TASK_SHORT]);
	return -1;
}

/* Where it is to be written, before hours are spent on it. */
struct outputs {
	char *store;
	struct result_file svg;
};

static int prepare_directory(const char *path)
{
	char *inside = xprintf("%s/.", path);
	int err = 0;

	if ((mkdir(path, 0777) && errno != EEXIST) ||
	    access(inside, W_OK | X_OK)) {
		warn("%s: %s", path, strerror(errno));
		err = -1;
	}
	free(inside);
	return err;
}

static int open_outputs(struct outputs *o, const struct request *r)
{
	o->store = r->store ? xstrdup(r->store) : cutoffs_machine_path();
	if (cutoffs_try_save(o->store) || (r->csv && prepare_directory(r->csv)))
		return -1;
	return r->svg ? result_file_check(&o->svg, r->svg) : 0;
}

static char *duration_text(double seconds)
{
	if (seconds < 100)
		return xprintf("%.0f s", seconds);
	if (seconds < 100 * 60)
		return xprintf("%.0f min", seconds / 60);
	return xprintf("%.1f h", seconds / 3600);
}

static double plan_seconds(const struct learn_plan *plan)
{
	return plan->seconds[TASK_SHORT] + plan->seconds[TASK_LONG];
}

static void announce(const struct learn_plan *plan)
{
	char *text = duration_text(plan_seconds(plan));

	warn("this takes %s%s; Ctrl-C ends it, and learns from the samples so far",
	     text, plan->time > 0 ? ", and ends after --time if it has enough samples" :
	     ", more on a busy machine");
	free(text);
}

/* Gives the tasks of a length their part of the progress bar and of the time. */
static struct sampler_options options_of(const struct request *r,
					 enum task_length length,
					 uint64_t began)
{
	const struct learn_plan *plan = &r->plan;
	double before = length == TASK_LONG ? plan->seconds[TASK_SHORT] : 0;
	double total = plan_seconds(plan);
	double part = (before + plan->seconds[length]) / total;

	return (struct sampler_options){
		.input = "/dev/null", .quiet = r->quiet,
		.least = LEARN_LEAST_SAMPLES,
		.until = plan->time > 0 ?
			 began + (uint64_t)fmin(plan->time * part * 1e9, 1e18) : 0,
		.part = { length == TASK_LONG ? "long tasks" : "short tasks",
			  before, plan->seconds[length], total },
	};
}

/* Takes samples of counting into m, which the caller frees. Returns as sampler_run(). */
static int take(struct measurement *m, uint64_t millions, size_t runs,
		const struct sampler_options *options)
{
	struct subject *s = xmalloc(sizeof(*s));

	*s = (struct subject){ .title = find_part(PATH_COUNT) };
	s->argv = xmalloc(3 * sizeof(*s->argv));
	s->words = xprintf("%llu", (unsigned long long)millions);
	s->argv[0] = s->title;
	s->argv[1] = s->words;
	s->argv[2] = NULL;
	*m = (struct measurement){ .subjects = s, .nr_subjects = 1,
				   .runs = runs, .warmup = 1 };
	return sampler_run(m, options);
}

/* How many millions take a second of CPU time, undisturbed: the most. */
static int calibrate(const struct request *r, double *rate)
{
	const struct sampler_options options = {
		.input = "/dev/null", .quiet = r->quiet,
	};
	struct measurement m;
	int status = take(&m, CALIBRATION_MILLIONS, CALIBRATION_RUNS, &options);

	*rate = 0;
	for (size_t i = 0; i < m.subjects->count; i++)
		*rate = fmax(*rate, CALIBRATION_MILLIONS /
			     m.subjects->samples[i].values[METRIC_PROCESS]);
	if (!status && !m.others_known) {
		warn("daemons learn: %s", m.degraded);
		status = STATUS_FAILED;
	}
	measure_free(&m);
	return status;
}

static bool was_interrupted(int status)
{
	return status > STATUS_SIGNAL;
}

/* Whether there are enough samples of a length, which may have been interrupted. */
static bool are_enough(const struct measurement *m, double length, int status)
{
	size_t count = m->subjects->count;

	if (count < LEARN_LEAST_SAMPLES) {
		warn("nothing can be learnt from %zu samples of %g s: at least %d are needed",
		     count, length, LEARN_LEAST_SAMPLES);
		return false;
	}
	if (count < m->runs)
		warn("%slearning from %zu of %zu samples of %g s",
		     was_interrupted(status) ? "" : "--time is over: ", count,
		     m->runs, length);
	return true;
}

static double first_begin(const struct measurement *m)
{
	return m->subjects->samples[0].began;
}

/* Returns as sampler_run(). *origin is the begin of the first series. */
static int learn_length(struct learnt *learnt, enum task_length length,
			const struct learn_plan *plan,
			const struct sampler_options *options, double rate,
			double *origin, char **degraded)
{
	struct series *s = &learnt->series[length];
	double millions = fmax(1, round(plan->length[length] * rate));
	struct measurement m;
	int status = take(&m, (uint64_t)millions, plan->samples[length],
			  options);

	if ((!status || was_interrupted(status)) &&
	    are_enough(&m, plan->length[length], status)) {
		s->length = plan->length[length];
		s->asked = plan->samples[length];
		if (length == TASK_SHORT)
			*origin = first_begin(&m);
		learn_series(s, m.subjects, *origin);
		if (!*degraded && m.degraded)
			*degraded = xstrdup(m.degraded);
	}
	measure_free(&m);
	return status;
}

static int write_picture(struct outputs *o, const struct learnt *learnt)
{
	FILE *f;

	if (!o->svg.name)
		return 0;
	f = result_file_begin(&o->svg);
	if (!f)
		return -1;
	scatter_svg(f, learnt);
	return result_file_end(&o->svg, 0);
}

static int print(const struct outputs *o, const struct request *r,
		 const struct learnt *learnt, const struct circumstances *c,
		 json_t *root)
{
	if (r->json)
		return json_print(json_incref(root)) ? STATUS_FAILED : 0;
	learnt_text(stdout, learnt, &learnt->cutoffs, c, c);
	learnt_plot(stdout, learnt, r->plot);
	printf("\nStored in %s\n", o->store);
	return 0;
}

static int write_results(struct outputs *o, const struct request *r,
			 const struct learnt *learnt,
			 const struct circumstances *c)
{
	json_t *root = learnt_json(learnt, c);
	int status = 0;

	if (cutoffs_save(root, o->store) ||
	    (r->csv && learnt_write_tables(learnt, r->csv)) ||
	    write_picture(o, learnt))
		status = STATUS_FAILED;
	else
		status = print(o, r, learnt, c, root);
	json_decref(root);
	return status;
}

/* Says which of those that are given have no effect. */
static void warn_of_periods(const struct request *r,
			    const struct learnt *learnt)
{
	for (size_t i = 0; i < r->periods.count; i++)
		if (!cutoffs_find(&learnt->cutoffs, r->periods.list[i].daemon))
			warn("--periods: '%s' did not run long in any sample: its period is not used",
			     r->periods.list[i].daemon);
}

static int learn(const struct request *r, struct outputs *o)
{
	struct learnt learnt = { 0 };
	uint64_t began = now_ns();
	struct circumstances c;
	double rate, origin = 0;
	int status, written;

	if (!r->quiet)
		announce(&r->plan);
	status = calibrate(r, &rate);
	if (status)
		return status;
	circumstances_read(&c);
	for (int i = TASK_SHORT; i <= TASK_LONG && !status; i++) {
		const struct sampler_options o = options_of(r, i, began);

		if (r->plan.samples[i])
			status = learn_length(&learnt, i, &r->plan, &o, rate,
					      &origin, &c.degraded);
	}
	if (learnt.series[TASK_SHORT].count) {
		learn_cutoffs(&learnt, &r->periods);
		warn_of_periods(r, &learnt);
		written = write_results(o, r, &learnt, &c);
		status = written ? written : status;
	}
	learn_free(&learnt);
	circumstances_free(&c);
	return status;
}

int daemons_learn(const struct subcommand *command, int argc, char **argv)
{
	struct request r = { 0 };
	struct outputs o = { 0 };
	int status = STATUS_FAILED;

	if (!parse_options(command, argc, argv, &r) && !check_request(&r) &&
	    !open_outputs(&o, &r))
		status = learn(&r, &o);
	result_file_free(&o.svg);
	free(o.store);
	periods_free(&r.periods);
	return status;
}
