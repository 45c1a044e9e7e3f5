// SPDX-License-Identifier: GPL-2.0
/* Makes a race from the samples of the groups, and rows from the race. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/util.h"

/* If chance makes a difference this rarely, the work differs. */
#define RARE		0.001
/* Below this part of the time, a time says nothing about the work. */
#define SHARE_MIN	0.01
/* The program waits for a function that gains this part of its promise. */
#define WAITS_MIN	0.75
/* Other threads wait for a function that gains more than this part. */
#define OTHERS_MIN	1.25
/* Less of the time than this is little. */
#define LITTLE		0.02
/* A function with more of the time calls all that matters, as main() does. */
#define WHOLE		0.9

size_t profile_race_row(const struct profile *p, size_t group, size_t condition)
{
	size_t row = 0;

	/* Each group has a row for the null runs and each variant. */
	for (size_t i = 0; i < group; i++)
		row += p->groups[i].w.plan.nr_conditions - 1;
	return row + condition - 1;
}

/* The runs that count: those of round 0 only find out which functions are called. */
static bool counts(const struct whatif_sample *s)
{
	return s->round > 0 && s->condition > 0;
}

static double sum_of(const struct profile_group *g, size_t condition,
		     double (*figure)(const struct whatif_sample *s,
				      unsigned int slot),
		     unsigned int slot, size_t *n, double *squares)
{
	double sum = 0;

	*n = 0;
	*squares = 0;
	for (size_t i = 0; i < g->w.samples.count; i++) {
		const struct whatif_sample *s = &g->w.samples.list[i];
		double value;

		if (!counts(s) || s->condition != condition)
			continue;
		value = figure(s, slot);
		sum += value;
		*squares += value * value;
		(*n)++;
	}
	return sum;
}

static double mean_of(const struct profile_group *g, size_t condition,
		      double (*figure)(const struct whatif_sample *s,
				       unsigned int slot), unsigned int slot)
{
	double squares, sum;
	size_t n;

	sum = sum_of(g, condition, figure, slot, &n, &squares);
	return n ? sum / n : NAN;
}

static double calls_of(const struct whatif_sample *s, unsigned int slot)
{
	return s->slot[slot].calls;
}

static double metric_of(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->metric;
}

static double elapsed_of(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->elapsed;
}

static double charged_of(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->charged;
}

/* Virtual CPU time over real one: 1 without a cut, if nothing is forgotten. */
static double pace_of(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->charged / whatif_own_ran(s);
}

static double part_of(const struct whatif_sample *s, unsigned int slot)
{
	return s->slot[slot].ran / whatif_own_ran(s);
}

/* Figures in percent. whatif compares the same ones to choose an estimator. */
static double log_calls(const struct whatif_sample *s, unsigned int slot)
{
	return 100 * log(s->slot[slot].calls + 1.0);
}

/* Both times are of the same run, so the machine's speed is in neither. */
static double outside(const struct whatif_sample *s, unsigned int slot)
{
	double in = s->slot[slot].ran, all = whatif_own_ran(s);
	double out = all > in ? all - in : 1;

	return 100 * log(out / (in + 1)) * (out / all);
}

static double log_work(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return 100 * log(whatif_own_ran(s) / (s->reference + 1.0));
}

/* Does a figure differ between a variant and the null runs, by enough to matter? */
static bool differs(const struct profile_group *g, size_t condition,
		    unsigned int slot, double matters,
		    double (*figure)(const struct whatif_sample *s,
				     unsigned int slot))
{
	double a, b, squares_a, squares_b, variance, error, mean;
	size_t na, nb;

	a = sum_of(g, condition, figure, slot, &na, &squares_a);
	b = sum_of(g, 1, figure, slot, &nb, &squares_b);
	if (!na || nb < 2)
		return false;
	mean = a / na - b / nb;
	variance = (squares_a - a * a / na + squares_b - b * b / nb) /
		   (na + nb - 2);
	error = sqrt(fmax(variance, 0) * (1.0 / na + 1.0 / nb));
	if (fabs(mean) <= matters)
		return false;
	return error <= 0 || 2 * gsl_cdf_tdist_Q(fabs(mean) / error,
						 na + nb - 2) < RARE;
}

/*
 * CPU time tells the machine's speed if a run does the same work in each condition.
 * The tests are those of whatif.
 */
static enum race_control choose_control(const struct profile *p,
					const struct profile_group *g,
					size_t condition, size_t member)
{
	double matters = p->question.precision / 4;
	unsigned int slot = member + 1;

	if (differs(g, condition, slot, matters, log_calls))
		return RACE_REFERENCE;
	if (mean_of(g, 1, part_of, slot) > SHARE_MIN &&
	    differs(g, condition, slot, matters, outside))
		return RACE_REFERENCE;
	return differs(g, condition, slot, 2 * matters, log_work) ?
	       RACE_REFERENCE : RACE_CPU;
}

static enum race_kind kind_of(const struct profile_candidate *c,
			      enum profile_cut cut)
{
	if (c->whole)
		return RACE_UNUSED;
	if (cut == PROFILE_HALF)
		return RACE_CANDIDATE;
	return c->finalist ? RACE_EXTRA : RACE_UNUSED;
}

static void add_cuts(struct race *race, const struct profile *p,
		     const struct profile_group *g, enum profile_cut cut,
		     size_t null)
{
	for (size_t m = 0; m < g->count; m++) {
		const struct profile_candidate *c =
			&p->candidates[g->members[m]];
		size_t row = race_add_row(race, kind_of(c, cut), null);

		race->rows[row].control =
			choose_control(p, g, profile_condition(g, m, cut), m);
	}
}

static void add_rows(struct race *race, const struct profile *p)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		size_t null = race_add_row(race, RACE_NULL, race->nr_rows);

		for (int cut = 0; cut < PROFILE_CUTS; cut++)
			add_cuts(race, p, &p->groups[i], cut, null);
	}
}

/* The CPU time of a run, or of a call if the metric counts calls. */
static double log_cpu(const struct whatif_question *q,
		      const struct whatif_sample *s)
{
	unsigned int progress = whatif_progress_slot(q);
	double cpu = log(whatif_own_ran(s));

	return progress ? cpu - log(s->slot[progress].calls + 1.0) : cpu;
}

static void add_runs(struct race *race, const struct profile *p)
{
	double sign = whatif_less(&p->question) ? -1 : 1;

	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct whatif *w = &p->groups[i].w;

		for (size_t k = 0; k < w->samples.count; k++) {
			const struct whatif_sample *s = &w->samples.list[k];
			struct race_run run;

			if (!counts(s))
				continue;
			run = (struct race_run){
				.row = profile_race_row(p, i, s->condition),
				.y = sign * log(s->metric),
				.control = {
					[RACE_CPU] = log_cpu(&w->question, s),
					[RACE_REFERENCE] =
						log(s->reference + 1.0),
				},
			};
			race_add_run(race, &run);
		}
	}
}

/* The part of the time that passes in which a CPU works, at most 1. */
static double busy(const struct profile *p)
{
	double elapsed = 0, charged = 0;

	for (size_t i = 0; i < p->nr_groups; i++) {
		double e = mean_of(&p->groups[i], 1, elapsed_of, 0);

		if (isnan(e))
			continue;
		elapsed += e;
		charged += mean_of(&p->groups[i], 1, charged_of, 0);
	}
	return elapsed > 0 ? fmin(1, charged / elapsed) : 1;
}

/* The slope expected before any run, for a machine that is slower by 1 %. */
static double expected_slope(const struct profile *p)
{
	switch (p->question.metric.kind) {
	case METRIC_STDOUT:
	case METRIC_STDERR:
		return 0;
	case METRIC_CPU:
		return -1;
	default:
		return -busy(p);
	}
}

static double gain_percent(const struct whatif_question *q, double gain)
{
	return whatif_less(q) ? -100 * expm1(-gain) : 100 * expm1(gain);
}

static struct interval gain_of(const struct profile *p, size_t row)
{
	const struct race_row *r = &p->answer.race.rows[row];

	if (!r->runs)
		return (struct interval){ NAN, NAN, NAN };
	return (struct interval){
		.value = gain_percent(&p->question, r->gain),
		.low = gain_percent(&p->question, r->low),
		.high = gain_percent(&p->question, r->high),
	};
}

/*
 * The part of a run's CPU time in a function and in all that it calls. A run with a
 * cut shows it: virtual time lacks the cut of that part. Slots would not do, since a
 * function inside of another one has its time in its own slot.
 */
static double inside(const struct profile_group *g, size_t member)
{
	double cut = profile_cuts[PROFILE_HALF];
	double null = mean_of(g, 1, pace_of, 0);
	double pace = mean_of(g, profile_condition(g, member, PROFILE_HALF),
			      pace_of, 0);
	double part = (1 - pace / null) / cut;

	return isnan(part) ? NAN : fmin(fmax(part, 0), 1);
}

static void set_times(struct profile_row *row, const struct profile_group *g,
		      size_t member)
{
	double elapsed = mean_of(g, 1, elapsed_of, 0);
	double charged = mean_of(g, 1, charged_of, 0);
	double time = inside(g, member) * charged;

	row->calls = mean_of(g, 1, calls_of, member + 1);
	row->share = time / fmax(elapsed, charged);
	row->wall = time / elapsed;
}

/* The gain that a part of the time promises, in percent. */
static double promise(const struct whatif_question *q, double part)
{
	double rest = 1 - profile_cuts[PROFILE_HALF] * fmin(part, 1);

	return gain_percent(q, -log(rest));
}

static enum profile_why explain(const struct profile *p,
				const struct profile_row *row)
{
	const struct whatif_question *q = &p->question;
	const struct interval *gain = &row->gain[PROFILE_HALF];
	double promised = promise(q, row->share);

	if (isnan(gain->value))
		return PROFILE_UNKNOWN;
	if (p->candidates[row->candidate].whole)
		return PROFILE_WHOLE;
	if (gain->high < 0)
		return PROFILE_LOSES;
	if (gain->low <= 0) {
		/* Could the gain be as large as the share promises? */
		if (gain->high >= WAITS_MIN * promised &&
		    gain->high > q->precision)
			return PROFILE_UNCERTAIN;
		return row->share < LITTLE ? PROFILE_LITTLE : PROFILE_OFF_PATH;
	}
	/* By itself a function saves no more than its own time. */
	if (gain->low > OTHERS_MIN * promise(q, row->wall))
		return PROFILE_OTHERS_WAIT;
	return gain->value >= WAITS_MIN * promised ? PROFILE_WAITS :
						     PROFILE_HIDDEN;
}

static void fill_row(const struct profile *p, size_t group, size_t member,
		     struct profile_row *row)
{
	const struct profile_group *g = &p->groups[group];

	for (int cut = 0; cut < PROFILE_CUTS; cut++) {
		size_t r = profile_race_row(p, group,
					    profile_condition(g, member, cut));

		row->gain[cut] = gain_of(p, r);
		row->runs[cut] = p->answer.race.rows[r].runs;
		if (cut == PROFILE_HALF)
			row->control = p->answer.race.rows[r].control;
	}
	set_times(row, g, member);
	row->why = explain(p, row);
}

/* Rows without a gain come last, in the order of the candidates. */
static int by_gain(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;
	double gx = x->gain[PROFILE_HALF].value;
	double gy = y->gain[PROFILE_HALF].value;

	if (isnan(gx) || isnan(gy))
		return isnan(gx) && isnan(gy) ?
		       (x->candidate > y->candidate) -
		       (x->candidate < y->candidate) :
		       isnan(gx) - isnan(gy);
	return (gx < gy) - (gx > gy);
}

static void fill_rows(struct profile *p)
{
	struct profile_answer *a = &p->answer;

	a->rows = xmalloc((p->nr_candidates + 1) * sizeof(*a->rows));
	a->nr_rows = p->nr_candidates;
	for (size_t i = 0; i < a->nr_rows; i++)
		a->rows[i] = (struct profile_row){
			.candidate = i, .why = PROFILE_UNKNOWN,
			.share = NAN, .wall = NAN, .calls = NAN,
			.gain = { { NAN, NAN, NAN }, { NAN, NAN, NAN },
				  { NAN, NAN, NAN } },
		};
	for (size_t g = 0; g < p->nr_groups; g++)
		for (size_t m = 0; m < p->groups[g].count; m++)
			fill_row(p, g, m, &a->rows[p->groups[g].members[m]]);
	qsort(a->rows, a->nr_rows, sizeof(*a->rows), by_gain);
}

static double baseline(const struct profile *p)
{
	double sum = 0, mean;
	size_t groups = 0;

	for (size_t i = 0; i < p->nr_groups; i++) {
		mean = mean_of(&p->groups[i], 1, metric_of, 0);
		if (isnan(mean))
			continue;
		sum += mean;
		groups++;
	}
	return groups ? sum / groups : NAN;
}

static void find_whole(struct profile *p)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct profile_group *g = &p->groups[i];

		for (size_t m = 0; m < g->count; m++)
			p->candidates[g->members[m]].whole =
				inside(g, m) > WHOLE;
	}
}

void profile_assess(struct profile *p)
{
	struct profile_answer *a = &p->answer;

	race_free(&a->race);
	free(a->rows);
	a->race = (struct race){
		.top = p->asked.top, .precision = p->question.precision / 100,
		.seed = p->question.seed,
		.slope = { [RACE_CPU] = expected_slope(p) },
	};
	find_whole(p);
	add_rows(&a->race, p);
	add_runs(&a->race, p);
	race_look(&a->race);
	fill_rows(p);
	a->runs = a->race.nr_runs;
	a->separated = race_separated(&a->race);
	a->baseline = baseline(p);
}
