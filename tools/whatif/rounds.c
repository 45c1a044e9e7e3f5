// SPDX-License-Identifier: GPL-2.0
#include "rounds.h"

#include <stdlib.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "base/util.h"

/* How many rounds it will take, as far as can be told. */
static unsigned int expected_rounds(const struct whatif *w)
{
	size_t rounds = whatif_rounds(&w->samples), most = WHATIF_ROUNDS_MIN;

	if (w->question.deterministic || w->question.runs)
		return w->question.max_runs;
	if (rounds < WHATIF_ROUNDS_MIN)
		return most;
	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
		const struct whatif_result *r = whatif_result(&w->answer, c);
		size_t n = rounds_needed(rounds, whatif_width(&r->change),
					 w->question.precision);

		most = n > most ? n : most;
	}
	return most > w->question.max_runs ? w->question.max_runs : most;
}

static int run_round(struct whatif *w, const struct whatif_runner *runner,
		     gsl_rng *rng, unsigned int round)
{
	size_t n = w->plan.nr_conditions, *order = xmalloc(n * sizeof(*order));
	unsigned int total = (1 + expected_rounds(w)) * n;
	struct whatif_sample *samples;
	int status = 0;

	w->samples.list = xrealloc(w->samples.list,
				   (round + 1) * n * sizeof(*samples));
	samples = w->samples.list + round * n;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	gsl_ran_shuffle(rng, order, n, sizeof(*order));
	for (size_t i = 0; i < n && !status; i++) {
		struct whatif_sample *s = &samples[order[i]];

		runner->progress(round * n + i, total, runner->arg);
		*s = (struct whatif_sample){
			.round = round, .order = round * n + i,
			.condition = order[i],
		};
		status = runner->run(w, order[i], s, runner->arg);
	}
	if (!status)
		w->samples.count += n;
	free(order);
	return status;
}

static bool patched(const struct whatif_samples *samples, unsigned int slot)
{
	for (size_t i = 0; i < samples->nr_patches; i++)
		if (samples->patches[i].slot == slot &&
		    samples->patches[i].patched)
			return true;
	return false;
}

/* Warns for each function that was found. Returns the reason if there is none, or "". */
static const char *explain_nothing(const struct whatif_samples *samples,
				   unsigned int slot)
{
	bool found = false;

	for (size_t i = 0; i < samples->nr_patches; i++) {
		if (samples->patches[i].slot != slot)
			continue;
		warn("%s: %s", samples->patches[i].symbol,
		     samples->patches[i].how);
		found = true;
	}
	return found ? "" : ", because tense found no such function in the command and the libraries that it loaded";
}

static void say_nothing_done(const struct whatif_question *q,
			     const struct whatif_samples *samples,
			     unsigned int slot)
{
	const char *name = whatif_name(q, slot), *why;

	if (patched(samples, slot)) {
		warn("the command did not call %s: give it other arguments, or see by tense profile --survey-only what it calls",
		     name);
		return;
	}
	why = explain_nothing(samples, slot);
	warn("%s: %s%s: see tense functions", name, slot < WHATIF_SLOTS ?
	     "nothing was scaled" : "its calls cannot be seen", why);
}

/* Was it called in a run, if it should have been? */
static bool was_called(const struct whatif_question *q,
		       const struct whatif_plan *plan,
		       const struct whatif_samples *samples, unsigned int name)
{
	const struct whatif_sample *null = &samples->list[1];

	if (name == WHATIF_FROM)
		return !q->metric.from || null->latency.from;
	if (name == WHATIF_TO)
		return !q->metric.to || null->latency.to;
	return !plan->conditions[1].percent[name] || null->slot[name].calls;
}

/* Stops if a function was never called: more runs would not change that. */
static int check_first(const struct whatif *w,
		       const struct whatif_runner *runner)
{
	int status = 0;

	for (unsigned int slot = 1; slot < WHATIF_NAMES; slot++) {
		if (was_called(&w->question, &w->plan, &w->samples, slot))
			continue;
		if (!status && runner->explain)
			runner->explain(runner->arg);
		say_nothing_done(&w->question, &w->samples, slot);
		status = 1;
	}
	return status;
}

/*
 * Assess after some rounds only: each look may end the measurement by accident.
 * Deterministic runs have no accidents and all do their rounds, as do batches.
 */
static bool look(const struct whatif_question *q, unsigned int round)
{
	if (round == q->max_runs)
		return true;
	return !q->deterministic && !q->runs && round >= WHATIF_ROUNDS_MIN &&
	       (round < 8 || round % (round < 24 ? 2 : 4) == 0);
}

int whatif_measure(struct whatif *w, const struct whatif_runner *runner)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int status = 0;

	gsl_rng_set(rng, w->question.seed);
	w->samples.per_round = w->plan.nr_conditions;
	for (unsigned int round = 0; round <= w->question.max_runs; round++) {
		status = run_round(w, runner, rng, round);
		if (!status && round == 0)
			status = check_first(w, runner);
		if (status)
			break;
		if (!look(&w->question, round))
			continue;
		whatif_assess(&w->question, &w->plan, &w->samples, &w->answer);
		if (whatif_converged(&w->answer, w->question.precision))
			break;
	}
	gsl_rng_free(rng);
	return status;
}
