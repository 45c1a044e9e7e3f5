// SPDX-License-Identifier: GPL-2.0
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The number of finalists. */
#define FINALISTS	5
/* A candidate whose stubs take a larger part of a run gets a group of its own. */
#define HOT_PART	0.1
/* A shorter run spends most of its time on its start. */
#define SHORT_NS	5000000

struct race_state {
	struct profile *p;
	const struct profile_runner *runner;
	uint64_t start, deadline;
	uint64_t run_ns;	/* the mean so far */
	uint64_t spent_ns;	/* in those runs */
	unsigned int timed;	/* how many they are */
	unsigned int order;
	unsigned int looks;
	size_t left;		/* runs of this stage that are to come */
	const char *doing;
};

static uint64_t now(const struct race_state *s)
{
	return s->runner->now(s->runner->arg);
}

static bool has_time(const struct race_state *s, uint64_t runs)
{
	return now(s) + runs * s->run_ns <= s->deadline;
}

static void show(const struct race_state *s)
{
	const struct profile_answer *a = &s->p->answer;
	char *best = xstrdup(""), *what;

	if (a->nr_rows && !isnan(a->rows[0].gain[PROFILE_HALF].value)) {
		free(best);
		best = xprintf(", best so far: %s",
			       s->p->candidates[a->rows[0].candidate].name);
	}
	what = xprintf("%s, %zu runs to come%s", s->doing, s->left, best);
	s->runner->progress(s->p, now(s) - s->start, what, s->runner->arg);
	free(what);
	free(best);
}

/* Appends a sample if the run succeeds. Returns 0, or the status to end with. */
static int run(struct race_state *s, struct profile_group *g, size_t condition,
	       unsigned int round)
{
	struct whatif_samples *samples = &g->w.samples;
	uint64_t began = now(s);
	struct whatif_sample *sample;
	int status;

	show(s);
	samples->list = xrealloc(samples->list, (samples->count + 1) *
						sizeof(*samples->list));
	sample = &samples->list[samples->count];
	*sample = (struct whatif_sample){
		.round = round, .order = s->order, .condition = condition,
	};
	status = s->runner->run(&g->w, condition, sample, s->runner->arg);
	if (status)
		return status;
	s->order++;
	samples->count++;
	s->timed++;
	s->spent_ns += now(s) - began;
	s->run_ns = s->spent_ns / s->timed;
	return 0;
}

static const struct whatif_patch *patch_of(const struct whatif *w,
					   unsigned int slot, bool patched)
{
	for (size_t i = 0; i < w->samples.nr_patches; i++)
		if (w->samples.patches[i].slot == slot &&
		    w->samples.patches[i].patched == patched)
			return &w->samples.patches[i];
	return NULL;
}

/* Learns from the first run of a group whether a candidate can run. */
static void learn(struct profile_candidate *c, const struct whatif *w,
		  unsigned int slot)
{
	const struct whatif_sample *s = &w->samples.list[0];
	const struct whatif_patch *refused = patch_of(w, slot, false);
	double ran = whatif_own_ran(s);

	if (!s->slot[slot].calls && refused && !patch_of(w, slot, true)) {
		c->state = PROFILE_REFUSED;
		c->reason = xstrdup(refused->how);
		return;
	}
	if (!s->slot[slot].calls) {
		c->state = PROFILE_NEVER_CALLED;
		return;
	}
	if (!(c->weight > 0))
		c->weight = s->slot[slot].ran / ran;
	c->alone = s->slot[slot].calls * s->pair_ns > HOT_PART * ran;
}

/*
 * The first run of each group took longer, because it searched for functions. Times a
 * run that is like those to come.
 */
static int time_run(struct race_state *s)
{
	if (!s->p->nr_groups || !has_time(s, 1))
		return 0;
	s->spent_ns = 0;
	s->timed = 0;
	return run(s, &s->p->groups[0], 1, 0);
}

/* Makes a null run of each group. It does not count, because caches were cold. */
static int probe(struct race_state *s)
{
	struct profile *p = s->p;
	int status = 0;

	s->doing = "which functions are called";
	for (size_t i = 0; i < p->nr_groups && !status; i++) {
		struct profile_group *g = &p->groups[i];

		s->left = p->nr_groups - i;
		if (i && !has_time(s, 1)) {
			for (size_t m = 0; m < g->count; m++)
				p->candidates[g->members[m]].state =
					PROFILE_NOT_TRIED;
			continue;
		}
		status = run(s, g, 1, 0);
		for (size_t m = 0; m < g->count && !status; m++)
			learn(&p->candidates[g->members[m]], &g->w, m + 1);
	}
	return status ? status : time_run(s);
}

static int by_weight(const void *a, const void *b)
{
	const struct profile_candidate *x = *(struct profile_candidate *const *)a;
	const struct profile_candidate *y = *(struct profile_candidate *const *)b;

	return (x->weight < y->weight) - (x->weight > y->weight);
}

/* Leaves out the candidates for which there is no time, those of least weight. */
static void limit(struct race_state *s)
{
	struct profile *p = s->p;
	struct profile_candidate **ready =
		xmalloc((p->nr_candidates + 1) * sizeof(void *));
	uint64_t time = s->deadline > now(s) ? s->deadline - now(s) : 0;
	size_t n = 0, room = time / (s->run_ns ? s->run_ns : 1);

	for (size_t i = 0; i < p->nr_candidates; i++)
		if (p->candidates[i].state == PROFILE_READY)
			ready[n++] = &p->candidates[i];
	qsort(ready, n, sizeof(void *), by_weight);
	/* The null runs of a group take a quarter of its candidates' runs. */
	room = room * 4 / 5;
	for (size_t i = room < 1 ? 1 : room; i < n; i++)
		ready[i]->state = PROFILE_NOT_TRIED;
	free(ready);
}

/* Says why no candidate can be run. */
static int refuse(const struct profile *p)
{
	size_t called = 0;

	for (size_t i = 0; i < p->nr_candidates; i++) {
		const struct profile_candidate *c = &p->candidates[i];

		if (c->state == PROFILE_REFUSED)
			warn("%s: %s", c->name, c->reason);
		called += c->state == PROFILE_REFUSED;
	}
	if (called)
		warn("profile: no function can be scaled: see tense functions");
	else
		warn("profile: the command calls none of the functions: --only names others");
	return 1;
}

/* Checks the first run of the command. */
static int check_length(const struct profile *p)
{
	const struct whatif_sample *s;

	if (!p->nr_groups || !p->groups[0].w.samples.count)
		return 0;
	s = &p->groups[0].w.samples.list[0];
	if (s->elapsed >= SHORT_NS)
		return 0;
	warn("profile: a run takes %.1f ms, too short to compare: give the command more work, at least some 100 ms",
	     s->elapsed / 1e6);
	return STATUS_FAILED;
}

static struct profile_group *group_of(struct profile *p, size_t row,
				      size_t *condition)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		size_t first = profile_race_row(p, i, 1);

		*condition = row - first + 1;
		if (*condition < p->groups[i].w.plan.nr_conditions)
			return &p->groups[i];
	}
	die(STATUS_FAILED, "profile: no such row");
}

static void look(struct race_state *s)
{
	profile_assess(s->p);
	s->looks++;
}

/*
 * Runs a stage, as far as there is time, and looks at it. Keeps the time of
 * reserve runs for later. *done is false if the stage was cut.
 */
static int run_stage(struct race_state *s, bool extra, uint64_t reserve,
		     bool *done)
{
	size_t *rows, count = race_stage(&s->p->answer.race, extra, &rows);
	int status = 0;

	*done = true;
	for (size_t i = 0; i < count && !status; i++) {
		size_t condition;
		struct profile_group *g = group_of(s->p, rows[i], &condition);

		s->left = count - i;
		if (!has_time(s, reserve + 1)) {
			*done = false;
			break;
		}
		status = run(s, g, condition, 1);
	}
	free(rows);
	/* After a signal, the answer has what is known. */
	look(s);
	return status;
}

/* The best candidates run at all cuts; returns how many. */
static size_t choose_finalists(struct profile *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->nr_candidates; i++)
		p->candidates[i].finalist = false;
	for (size_t i = 0; i < p->answer.nr_rows && count < FINALISTS; i++) {
		const struct profile_row *row = &p->answer.rows[i];

		if (!(row->gain[PROFILE_HALF].value > 0) ||
		    row->why == PROFILE_OFF_PATH ||
		    row->why == PROFILE_LITTLE || row->why == PROFILE_WHOLE)
			continue;
		p->candidates[row->candidate].finalist = true;
		count++;
	}
	return count;
}

/* Runs the finalists at the other cuts, until their intervals are narrow enough. */
static int run_finals(struct race_state *s)
{
	bool done = true;
	int status = 0;

	s->doing = "all cuts of the best";
	if (!choose_finalists(s->p))
		return 0;
	/* The rows of the finalists have another kind now. */
	profile_assess(s->p);
	while (!status && done && s->looks < RACE_LOOKS && has_time(s, 1)) {
		size_t *rows, count = race_stage(&s->p->answer.race, true,
						 &rows);

		free(rows);
		if (!count)
			break;
		status = run_stage(s, true, 0, &done);
	}
	return status;
}

/* Keeps looks for the finals. */
#define FINAL_LOOKS	2

static int run_races(struct race_state *s)
{
	/* The finals: one run of each cut, and the null runs of two groups. */
	uint64_t reserve = FINALISTS * (PROFILE_CUTS - 1) + 2;
	bool done = true;
	int status;

	s->doing = "each function once";
	status = run_stage(s, false, 0, &done);
	s->doing = "the best again";
	while (!status && done && race_is_on(&s->p->answer.race) &&
	       s->looks + FINAL_LOOKS < RACE_LOOKS &&
	       has_time(s, reserve + 1))
		status = run_stage(s, false, reserve, &done);
	if (!status)
		status = run_finals(s);
	s->p->timed_out = race_is_on(&s->p->answer.race);
	return status;
}

static bool has_answer(const struct profile *p)
{
	return p->answer.nr_rows &&
	       !isnan(p->answer.rows[0].gain[PROFILE_HALF].value);
}

int profile_measure(struct profile *p, const struct profile_runner *runner)
{
	struct race_state s = { .p = p, .runner = runner };
	int status;

	s.start = now(&s);
	s.deadline = s.start + p->asked.time_ns;
	profile_group(p);
	status = probe(&s);
	if (!status)
		status = check_length(p);
	if (!status) {
		limit(&s);
		profile_group(p);
		if (!p->nr_groups)
			return refuse(p);
		profile_assess(p);
		status = run_races(&s);
	}
	p->took_ns = now(&s) - s.start;
	if (status > STATUS_SIGNAL && has_answer(p)) {
		p->interrupted = true;
		return 0;
	}
	if (status != PROFILE_OUT_OF_TIME)
		return status;
	p->timed_out = true;
	if (has_answer(p))
		return 0;
	warn("profile: no function has run within --time: use a longer --time");
	return STATUS_FAILED;
}
