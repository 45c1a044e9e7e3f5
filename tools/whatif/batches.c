// SPDX-License-Identifier: GPL-2.0
#include "batches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "json.h"

#define WATCH_MS	200
/* A batch keeps descriptors until its turn to be taken. */
#define UNTAKEN_MAX	200

struct state {
	const struct whatif_question *asked;
	struct whatif *w;	/* the measured samples */
	const struct whatif_batches *b;
	struct jobs jobs;
	unsigned int total;	/* most batches */
	unsigned int taken;
};

/* A fixed number of rounds is judged only after the last one. */
static bool is_fixed(const struct whatif_question *q)
{
	return q->runs;
}

/* Each batch has at least two rounds: a single round shows no variation. */
static unsigned int rounds_of(const struct state *s, unsigned int number)
{
	unsigned int each = s->asked->max_runs / s->total;

	return each + (number < s->asked->max_runs % s->total);
}

static int run_batch(const struct job *job, void *arg)
{
	const struct state *s = arg;
	const struct whatif_batch batch = {
		.job = job,
		.rounds = rounds_of(s, job->number),
		.seed = s->asked->seed + job->number,
	};

	return s->b->run(&batch, s->b->arg);
}

/*
 * Begins further batches before the first batches show whether more are needed, if
 * the caller expects that they are.
 */
static bool may_begin(const struct state *s)
{
	unsigned int begun = s->jobs.begun;

	return !s->jobs.ended_by && begun < s->total && begun - s->taken < UNTAKEN_MAX &&
	       jobs_running(&s->jobs) < s->b->parallel &&
	       (is_fixed(s->asked) || s->taken || s->b->ahead || !begun);
}

/* Appends the rounds of a batch, without the discarded one. */
static void append(struct whatif_samples *samples,
		   const struct whatif_samples *batch)
{
	size_t n = batch->count - batch->per_round;
	unsigned int rounds = whatif_rounds(samples), runs = samples->count;
	struct whatif_sample *to;

	samples->list = xrealloc(samples->list, (samples->count + n) *
						sizeof(*samples->list));
	to = samples->list + samples->count;
	memcpy(to, batch->list + batch->per_round, n * sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].round += rounds;
		to[i].order += runs - batch->per_round;
	}
	samples->count += n;
}

/* The first batch also supplies the functions and the environment. */
static void take_first(struct state *s, struct whatif *batch)
{
	*s->w = *batch;
	s->w->question.max_runs = s->asked->max_runs;
	*batch = (struct whatif){ 0 };
}

/* Returns 0, or the status to end with. */
static int take(struct state *s, struct job *j)
{
	struct whatif batch = { 0 };
	FILE *answer;
	char *error;

	job_show_messages(j);
	if (j->status)
		return j->status;
	answer = fdopen(job_take_answer(j), "r");
	if (!answer)
		die(STATUS_FAILED, "fdopen: %s", strerror(errno));
	error = whatif_json_read(answer, &batch);
	fclose(answer);
	if (!error && s->taken &&
	    batch.plan.nr_conditions != s->w->plan.nr_conditions)
		error = xstrdup("it has other variants");
	if (error) {
		warn("cannot read what the guest measured: %s", error);
		free(error);
		whatif_free(&batch);
		return STATUS_FAILED;
	}
	if (s->b->taken)
		s->b->taken(s->taken, &batch, s->b->arg);
	if (s->taken)
		append(&s->w->samples, &batch.samples);
	else
		take_first(s, &batch);
	whatif_free(&batch);
	return 0;
}

/* Called after batch s->taken - 1 was taken. */
static bool is_enough(const struct state *s)
{
	struct whatif *w = s->w;

	if (s->taken < s->total && (is_fixed(s->asked) ||
				    s->taken < s->b->least))
		return false;
	whatif_assess(&w->question, &w->plan, &w->samples, &w->answer);
	return s->taken == s->total ||
	       whatif_converged(&w->answer, w->question.precision);
}

static int run_batches(struct state *s)
{
	struct jobs *jobs = &s->jobs;
	int status = 0;

	for (;;) {
		while (may_begin(s))
			jobs_begin(jobs);
		if (s->b->progress)
			s->b->progress(s->taken, s->total, s->b->arg);
		if (s->b->watch && !jobs->ended_by)
			status = s->b->watch(jobs->begun, s->b->arg);
		if (status)
			return status;
		jobs_wait(jobs, s->b->watch ? WATCH_MS : -1);
		while (s->taken < jobs->begun && jobs->list[s->taken].done) {
			status = take(s, &jobs->list[s->taken]);
			if (status)
				return status;
			s->taken++;
			if (is_enough(s))
				return 0;
		}
		/* The last job may succeed in spite of the signal, and no further one begins. */
		if (jobs->ended_by && !jobs_running(jobs))
			return STATUS_SIGNAL + jobs->ended_by;
	}
}

int whatif_batches(const struct whatif_question *asked, struct whatif *w,
		   const struct whatif_batches *b)
{
	struct state s = {
		.asked = asked, .w = w, .b = b,
		.jobs = { .run = run_batch, .arg = &s,
			  .first_shows = b->first_shows },
	};
	int status, first;

	*w = (struct whatif){ 0 };
	s.total = (asked->max_runs + b->each - 1) / b->each;
	/* Some batches get one round more, so that none has only one. */
	if (s.total > asked->max_runs / 2)
		s.total = asked->max_runs / 2;
	jobs_open(&s.jobs, s.total);
	status = run_batches(&s);
	first = jobs_close(&s.jobs, !status);
	if (!status)
		status = first;
	if (status) {
		whatif_free(w);
		*w = (struct whatif){ 0 };
	}
	return status;
}
