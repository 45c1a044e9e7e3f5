// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "daemons.h"

void daemon_runs_add(struct daemon_runs *runs, const struct activity *activity,
		     uint64_t from, uint64_t to)
{
	runs->list = xrealloc(runs->list, (runs->count + 1) *
					  sizeof(*runs->list));
	runs->list[runs->count++] = (struct daemon_run){
		.activity = *activity, .from = from, .to = to,
	};
}

static bool is_within(const struct daemon_run *run,
		      const struct whatif_sample *s)
{
	return run->from < s->ended && run->to > s->began;
}

/* The CPU time of the process of a daemon run during a sample, in ms. */
static double time_of(const struct daemon_runs *runs,
		      const struct daemon_run *run,
		      const struct whatif_sample *s)
{
	double ms = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct daemon_run *r = &runs->list[i];

		if (r->activity.process == run->activity.process &&
		    !strcmp(r->activity.name, run->activity.name) &&
		    is_within(r, s))
			ms += (double)r->activity.ns / 1e6;
	}
	return ms;
}

/* By which daemon a sample is spoiled, if by any; the largest factor tells. */
static bool is_spoiled(const struct whatif_sample *s,
		       const struct daemon_runs *runs,
		       const struct cutoff_store *cutoffs,
		       struct whatif_spoiled *by)
{
	double worst = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct daemon_run *run = &runs->list[i];
		double cutoff = cutoff_for(cutoffs, run->activity.name,
					   (double)s->real / 1e9);
		double ms, excess;

		if (!is_within(run, s))
			continue;
		ms = time_of(runs, run, s);
		excess = cutoff > 0 ? ms / cutoff : INFINITY;
		if (!(ms > cutoff) || excess <= worst)
			continue;
		worst = excess;
		*by = (struct whatif_spoiled){
			.round = s->round, .ms = ms, .cutoff = cutoff,
		};
		memcpy(by->daemon, run->activity.name, sizeof(by->daemon));
	}
	return worst > 0;
}

static bool is_round_spoiled(const struct whatif_samples *samples, size_t round,
			     const struct daemon_runs *runs,
			     const struct cutoff_store *cutoffs,
			     struct whatif_spoiled *by)
{
	for (size_t c = 0; c < samples->per_round; c++)
		if (is_spoiled(whatif_at(samples, c, round), runs, cutoffs, by))
			return true;
	return false;
}

static void note(struct whatif_samples *samples,
		 const struct whatif_spoiled *spoiled)
{
	samples->spoiled = xrealloc(samples->spoiled,
				    (samples->nr_spoiled + 1) *
				    sizeof(*samples->spoiled));
	samples->spoiled[samples->nr_spoiled++] = *spoiled;
}

/* The rounds behind it are counted on. */
static void drop_round(struct whatif_samples *samples, size_t round)
{
	size_t n = samples->per_round, at = (round + 1) * n;

	memmove(&samples->list[at], &samples->list[at + n],
		(samples->count - at - n) * sizeof(*samples->list));
	samples->count -= n;
	for (size_t i = at; i < samples->count; i++)
		samples->list[i].round--;
}

bool whatif_drop(struct whatif_samples *samples, const struct daemon_runs *runs,
		 const struct cutoff_store *cutoffs)
{
	size_t rounds = whatif_rounds(samples), first = samples->nr_spoiled;
	struct whatif_spoiled by;

	for (size_t r = 0; r < rounds; r++)
		if (is_round_spoiled(samples, r, runs, cutoffs, &by))
			note(samples, &by);
	if (rounds < WHATIF_ROUNDS_MIN + samples->nr_spoiled - first)
		return samples->nr_spoiled > first;
	/* From the last one on, so that the others keep their numbers. */
	for (size_t i = samples->nr_spoiled; i-- > first;) {
		samples->spoiled[i].dropped = true;
		drop_round(samples, samples->spoiled[i].round - 1);
	}
	return samples->nr_spoiled > first;
}
