// SPDX-License-Identifier: GPL-2.0
#include "sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fatal-signals.h"
#include "base/util.h"
#include "run/jobs.h"
#include "json.h"

/* The argument of the job that measures for one number of CPUs. */
struct turn {
	const struct sweep_runner *runner;
	struct jobs jobs;
	unsigned int cpus;
};

/*
 * Each number of CPUs has a process of its own. A back end, a kernel and a message that
 * ends tense then concern this number only.
 */
static int run_turn(const struct job *job, void *arg)
{
	const struct turn *t = arg;
	struct whatif *w = t->runner->w;
	int status;
	FILE *f;

	/* Signals end this process as they end a tense that the user started. */
	sigprocmask(SIG_SETMASK, &t->jobs.mask, NULL);
	status = t->runner->measure(t->cpus, t->runner->arg);
	if (status)
		return status;
	whatif_conclude(w);
	f = fdopen(job->answer, "w");
	if (!f || whatif_json_write(f, w) || fclose(f))
		die(STATUS_FAILED, "cannot keep the answer: %s", strerror(errno));
	return 0;
}

/* Takes the answer of a job that has ended with status 0. */
static int take_answer(struct job *job, struct whatif *w)
{
	FILE *f = fdopen(job_take_answer(job), "r");
	char *error;

	if (!f)
		die(STATUS_FAILED, "fdopen: %s", strerror(errno));
	*w = (struct whatif){ 0 };
	error = whatif_json_read(f, w);
	fclose(f);
	if (!error) {
		whatif_conclude(w);
		return 0;
	}
	warn("cannot read the answer: %s", error);
	free(error);
	whatif_free(w);
	return STATUS_FAILED;
}

/* Returns the status of the turn. A key may end its process before it ends tense. */
static int status_of(const struct jobs *jobs, struct job *job)
{
	if (jobs->ended_by)
		return STATUS_SIGNAL + jobs->ended_by;
	if (is_fatal_signal(job->killed_by))
		return STATUS_SIGNAL + job->killed_by;
	job_show_messages(job);
	return job->status;
}

static int measure_one(const struct sweep_runner *runner, unsigned int cpus,
		       struct whatif *w)
{
	struct turn t = {
		.runner = runner, .cpus = cpus,
		.jobs = { .run = run_turn, .arg = &t, .first_shows = true },
	};
	int status;

	jobs_open(&t.jobs, 1);
	jobs_begin(&t.jobs);
	while (jobs_running(&t.jobs))
		jobs_wait(&t.jobs, -1);
	status = status_of(&t.jobs, &t.jobs.list[0]);
	if (!status)
		status = take_answer(&t.jobs.list[0], w);
	jobs_close(&t.jobs, true);
	return status;
}

static void say_end(const struct sweep *s, const char *words, int status)
{
	if (status > STATUS_SIGNAL)
		warn("whatif: interrupted at %s (%zu of %zu)", words,
		     s->count + 1, s->cpus.count);
	else
		warn("whatif: no answer for %s (%zu of %zu), so the sweep ends here: correct this error, or leave this number out of --cpus",
		     words, s->count + 1, s->cpus.count);
}

int sweep_measure(struct sweep *s, const struct sweep_runner *runner)
{
	int status = 0;

	while (!status && s->count < s->cpus.count) {
		unsigned int cpus = s->cpus.list[s->count];
		char *words = cpus_text(cpus);

		if (!runner->quiet)
			warn("whatif: %zu of %zu: %s", s->count + 1,
			     s->cpus.count, words);
		status = measure_one(runner, cpus, &s->answers[s->count]);
		if (status)
			say_end(s, words, status);
		else
			s->count++;
		free(words);
	}
	return status;
}

static bool is_same_plan(const struct whatif_plan *a, const struct whatif_plan *b)
{
	if (a->nr_conditions != b->nr_conditions)
		return false;
	for (size_t c = 0; c < a->nr_conditions; c++)
		if (strcmp(a->conditions[c].name, b->conditions[c].name) != 0)
			return false;
	return true;
}

char *sweep_check(const struct sweep *s)
{
	for (size_t i = 1; i < s->count; i++) {
		if (!is_same_plan(&s->answers[0].plan, &s->answers[i].plan))
			return xprintf("the answers for %u and %u CPUs have different variants",
				       s->cpus.list[0], s->cpus.list[i]);
		if (s->answers[0].question.metric.kind !=
		    s->answers[i].question.metric.kind)
			return xprintf("the answers for %u and %u CPUs have different metrics",
				       s->cpus.list[0], s->cpus.list[i]);
	}
	return NULL;
}

void sweep_free(struct sweep *s)
{
	for (size_t i = 0; i < s->count; i++)
		whatif_free(&s->answers[i]);
	s->count = 0;
}
