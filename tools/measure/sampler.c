// SPDX-License-Identifier: GPL-2.0
#include "sampler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "names/program.h"
#include "base/progress.h"
#include "base/reference.h"
#include "base/util.h"
#include "cold.h"
#include "image.h"
#include "protocol.h"

/* Reference loops take about this part of a sample's process time. */
#define REFERENCE_SHARE	0.05
#define REFERENCE_MAX	50	/* loops on either side */

/* Clocks that are disciplined are slewed by less than this in a sample. */
#define STEP_SECONDS	0.01

struct sampler {
	const struct sampler_options *options;
	struct measurement *m;
	struct task_source *source;
	struct image exited;
	struct stopwatch *clock;
	struct cold *cold;
	bool exits_lost;
	size_t loops;		/* on either side of a sample */
	double shortest;	/* shortest run of the warm-up, in seconds */
};

static void on_exit_of_task(void *arg, const struct task_time *task)
{
	struct sampler *sampler = arg;
	struct task_time exited = *task;

	/* Its time must not count as the command's orphan. */
	if (command_is_stranger(task->process))
		exited.parent = 0;
	image_add(&sampler->exited, &exited);
}

static void collect_exits(void *arg)
{
	struct sampler *sampler = arg;

	if (sampler->source &&
	    taskstats_drain(sampler->source, on_exit_of_task, sampler))
		sampler->exits_lost = true;
}

static double wall_offset(void)
{
	struct timespec wall, monotonic;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (double)(wall.tv_sec - monotonic.tv_sec) +
	       (double)(wall.tv_nsec - monotonic.tv_nsec) / 1e9;
}

/* Seconds per loop. */
static double time_reference(const struct sampler *sampler)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < sampler->loops; i++)
		ns += reference_loop();
	return (double)ns / 1e9 / (double)sampler->loops;
}

static void forget_exits(struct sampler *sampler)
{
	collect_exits(sampler);
	image_free(&sampler->exited);
	sampler->exits_lost = false;
}

/*
 * wait4() does not count processes that nobody waited for. Taskstats does, but
 * misses the time of an exiting process since the last tick. So either can be
 * too small, and neither too large.
 */
static double process_time(const struct sampler *sampler,
			   const struct command_result *result)
{
	uint64_t waited = result->user_ns + result->system_ns;
	uint64_t exited = activity_of_tree(&sampler->exited, result->pid,
					   getpid());

	exited -= exited < result->ours_ns ? exited : result->ours_ns;
	return (double)(waited > exited ? waited : exited) / 1e9;
}

static void compensate(const struct compensation *c, struct sample *sample)
{
	double *values = sample->values;

	sample->ticks = compensation_ticks(c, values[METRIC_ELAPSED],
					   values[METRIC_PROCESS]);
	values[METRIC_ELAPSED] -= sample->ticks * c->cost;
}

static void fill_sample(struct sampler *sampler, struct sample *sample,
			const struct command_result *result,
			const struct image *before, const struct image *after)
{
	const pid_t own[] = { getpid(), result->pid };

	sample->values[METRIC_ELAPSED] = (double)result->elapsed_ns / 1e9;
	sample->values[METRIC_PROCESS] = process_time(sampler, result);
	compensate(&sampler->m->compensation, sample);
	sample->user = (double)result->user_ns / 1e9;
	sample->system = (double)result->system_ns / 1e9;
	sample->left = result->left;
	sample->exits_lost = sampler->exits_lost;
	activities_between(&sample->others, before, after, &sampler->exited,
			   own, 2);
}

/* Says whether the kill of a command succeeded; the caller frees the text. */
static char *end_of(const struct command_result *r)
{
	return r->goes_on ?
	       xprintf("cannot be killed: end process %d yourself", r->pid) :
	       xstrdup("was killed");
}

static int report_timeout(const char *title, double timeout,
			  const struct command_result *r)
{
	char *end = end_of(r);

	warn("%s: had not ended after %g s (--timeout), and %s", title,
	     timeout, end);
	free(end);
	return 1;
}

static int report_interrupt(const struct command_result *r)
{
	char *end = end_of(r);

	warn("interrupted by signal %d (%s): the command %s", r->value,
	     strsignal(r->value), end);
	free(end);
	return STATUS_SIGNAL + r->value;
}

/* 0, or the status to exit with after a message. */
static int check_result(const struct sampler *sampler,
			const struct subject *subject,
			const struct command_result *r)
{
	const char *title = subject->title;

	switch (r->end) {
	case COMMAND_EXITED:
		if (!r->value || sampler->options->ignore_failure)
			return 0;
		warn("%s: exit status %d: --show-output shows what it says, --ignore-failure goes on then",
		     title, r->value);
		return 1;
	case COMMAND_SIGNALED:
		if (sampler->options->ignore_failure)
			return 0;
		warn("%s: was ended by signal %d (%s): --ignore-failure goes on then",
		     title, r->value, strsignal(r->value));
		return 1;
	case COMMAND_NOT_RUN:
		warn("%s: cannot be executed: %s", title, strerror(r->value));
		return r->value == ENOENT ? STATUS_NOT_FOUND :
					    STATUS_NOT_EXECUTABLE;
	case COMMAND_TIMED_OUT:
		return report_timeout(title, sampler->options->timeout, r);
	case COMMAND_INTERRUPTED:
		return report_interrupt(r);
	default:
		warn("%s: cannot be run: %s", title, strerror(r->value));
		return STATUS_FAILED;
	}
}

static int prepare(const struct sampler *sampler)
{
	char *argv[] = { "sh", "-c", (char *)sampler->options->prepare, NULL };
	const struct command command = {
		.argv = argv, .input = "/dev/null",
		.show_output = sampler->options->show_output,
		.timeout = sampler->options->timeout,
	};
	const struct subject subject = { .title = "--prepare" };
	const struct sampler strict = {
		.options = &(struct sampler_options){
			.timeout = sampler->options->timeout },
	};
	struct command_result result;

	if (!sampler->options->prepare)
		return 0;
	command_run(&command, &result);
	return check_result(&strict, &subject, &result);
}

static int take_sample(struct sampler *sampler, const struct subject *subject,
		       struct sample *sample)
{
	const struct command command = {
		.argv = subject->argv, .input = sampler->options->input,
		.show_output = sampler->options->show_output,
		.timeout = sampler->options->timeout,
		.meanwhile = collect_exits, .arg = sampler,
		.clock = sampler->clock,
	};
	struct image before = { 0 }, after = { 0 };
	struct command_result result;
	double offset, loop;
	int status = prepare(sampler);

	if (status)
		return status;
	loop = time_reference(sampler);
	offset = wall_offset();
	image_take(&before, sampler->source);
	/* A thread that exited before the image was taken is of no sample. */
	forget_exits(sampler);
	if (sampler->cold)
		cold_empty(sampler->cold);
	sample->began = (double)now_ns() / 1e9;
	command_run(&command, &result);
	collect_exits(sampler);
	image_take(&after, sampler->source);
	/* A thread that exited meanwhile is in the image, the exits or both. */
	collect_exits(sampler);
	status = check_result(sampler, subject, &result);
	if (!status) {
		fill_sample(sampler, sample, &result, &before, &after);
		sample->stepped = wall_offset() - offset;
		if (fabs(sample->stepped) < STEP_SECONDS)
			sample->stepped = 0;
		sample->loop = (loop + time_reference(sampler)) / 2;
	}
	image_free(&before);
	image_free(&after);
	return status;
}

/* So that the loops tell the speed as well as the sample needs it. */
static void fit_reference(struct sampler *sampler, const struct sample *sample)
{
	double loops = REFERENCE_SHARE / 2 * sample->values[METRIC_PROCESS] /
		       sample->loop;

	sampler->loops = loops < 1 ? 1 : loops > REFERENCE_MAX ?
			 REFERENCE_MAX : (size_t)loops;
}

static void begin_images(struct sampler *sampler)
{
	struct measurement *m = sampler->m;
	struct image image;
	char *why = NULL;

	sampler->source = taskstats_open(&why);
	if (sampler->source) {
		m->others_known = true;
		return;
	}
	m->others_known = !image_take(&image, NULL);
	image_free(&image);
	m->degraded = xprintf("%s: process times are those of the processes that it waited for, and of other processes %s",
			      why, m->others_known ?
			      "those that come and go meanwhile are not known" :
			      "none is known");
	free(why);
}

static void add_sample(const struct measurement *m, struct subject *s,
		       const struct sample *sample)
{
	s->samples[s->count++] = *sample;
	for (int i = 0; i < NR_BEST && m->protocol == PROTOCOL_KBEST; i++)
		kbest_add(&s->best[i], sample->values[i]);
}

static void forget_sample(struct sampler *sampler, struct sample *sample)
{
	sampler->shortest = fmin(sampler->shortest,
				 sample->values[METRIC_ELAPSED]);
	activities_free(&sample->others);
}

/* done: runs of all commands, the warm-up included. */
static void show_progress(const struct sampler *sampler,
			  struct progress *progress, size_t done, bool warmup)
{
	const struct sampler_part *part = &sampler->options->part;
	const struct measurement *m = sampler->m;
	size_t total = (m->warmup + m->runs) * m->nr_subjects;

	if (part->total > 0)
		progress_show(progress,
			      (unsigned int)(1000 * (part->before +
				part->seconds * (double)done / (double)total)),
			      (unsigned int)(1000 * part->total), part->what);
	else
		progress_show(progress, (unsigned int)done, (unsigned int)total,
			      warmup ? "warming up" : "measuring");
}

/*
 * Alternates which of two commands runs first: it leaves warm caches and a warm
 * CPU to the other one.
 */
static int take_round(struct sampler *sampler, size_t round, bool warmup,
		      struct progress *progress)
{
	struct measurement *m = sampler->m;

	for (size_t i = 0; i < m->nr_subjects; i++) {
		struct subject *s = &m->subjects[(i + round) % m->nr_subjects];
		struct sample sample = { 0 };
		int status;

		if (!sampler->options->quiet)
			show_progress(sampler, progress,
				      round * m->nr_subjects + i, warmup);
		status = take_sample(sampler, s, &sample);
		if (status)
			return status;
		fit_reference(sampler, &sample);
		if (warmup)
			forget_sample(sampler, &sample);
		else
			add_sample(m, s, &sample);
	}
	return 0;
}

/* By the time that a user waits for, which is disturbed by most. */
static bool all_converged(const struct measurement *m)
{
	for (size_t i = 0; i < m->nr_subjects; i++)
		if (m->protocol != PROTOCOL_KBEST ||
		    !kbest_converged(&m->subjects[i].best[METRIC_ELAPSED]))
			return false;
	return true;
}

/* All runs of the warm-up are done: their shortest time decides. */
static void choose_protocol(const struct sampler *sampler)
{
	struct measurement *m = sampler->m;

	m->protocol = protocol_for(sampler->shortest,
				   protocol_is_loaded(&m->environment));
	if (m->protocol == PROTOCOL_EMP)
		m->runs = m->emp_runs;
}

static bool is_over(const struct sampler *sampler, size_t samples)
{
	const struct sampler_options *o = sampler->options;

	return o->until && samples >= o->least && now_ns() >= o->until;
}

static int take_rounds(struct sampler *sampler, struct progress *progress)
{
	struct measurement *m = sampler->m;
	int status = 0;

	for (size_t i = 0; i < m->warmup && !status; i++)
		status = take_round(sampler, i, true, progress);
	if (!status && m->asked == PROTOCOL_AUTO && m->nr_subjects == 1)
		choose_protocol(sampler);
	for (size_t i = 0; i < m->runs && !status && !all_converged(m) &&
			   !is_over(sampler, i); i++)
		status = take_round(sampler, m->warmup + i, false, progress);
	return status;
}

static void prepare_subject(const struct measurement *m, struct subject *s)
{
	s->samples = xmalloc(m->runs * sizeof(*s->samples));
	for (int i = 0; i < NR_BEST; i++)
		s->best[i] = (struct kbest){ .k = m->k, .epsilon = m->epsilon };
}

/* 0, or -1 after a message. */
static int begin_options(struct sampler *sampler)
{
	const struct measurement *m = sampler->m;

	sampler->clock = stopwatch_new(m->clock);
	if (!sampler->clock) {
		warn("--clock %s: this CPU has no cycle counter of constant rate",
		     stopwatch_name(m->clock));
		return -1;
	}
	if (!m->cold)
		return 0;
	sampler->cold = cold_new();
	if (sampler->cold)
		return 0;
	warn("--cold: there is no memory to fill the caches with");
	return -1;
}

static void free_sampler(struct sampler *sampler)
{
	taskstats_close(sampler->source);
	image_free(&sampler->exited);
	cold_free(sampler->cold);
	free(sampler->clock);
}

int sampler_run(struct measurement *m, const struct sampler_options *options)
{
	struct sampler sampler = { .options = options, .m = m, .loops = 1,
				   .shortest = INFINITY };
	struct progress progress = { 0 };
	int status;

	for (size_t i = 0; i < m->nr_subjects; i++)
		prepare_subject(m, &m->subjects[i]);
	command_prepare();
	begin_images(&sampler);
	counters_read(&m->before, "");
	status = begin_options(&sampler) ? STATUS_FAILED :
					   take_rounds(&sampler, &progress);
	counters_read(&m->after, "");
	progress_end(&progress);
	free_sampler(&sampler);
	return status;
}
