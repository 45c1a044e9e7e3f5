// SPDX-License-Identifier: GPL-2.0
/* Makes a race from the samples of the groups, and rows from the race. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "figures.h"
#include "parts.h"

/* The program waits for a function that gains this part of its promise. */
#define WAITS_MIN	0.75
/* A function that gains more than this part gains more than its own time. */
#define OTHERS_MIN	1.25
/* With more than this part of its caller's time, a function has the caller's work. */
#define SAME		0.9
/* Less of the time than this is little. */
#define LITTLE		0.02

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
	for (size_t m = 0; m < g->count; m++)
		race_add_row(race, kind_of(&p->candidates[g->members[m]], cut), null);
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

			if (!figure_counts(s))
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
		double e = figure_mean(&p->groups[i], 1, figure_elapsed, 0);

		if (isnan(e))
			continue;
		elapsed += e;
		charged += figure_mean(&p->groups[i], 1, figure_charged, 0);
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

	/* Without a null run there is nothing to compare with. */
	if (!r->runs || !p->answer.race.rows[r->null].runs)
		return (struct interval){ NAN, NAN, NAN };
	return (struct interval){
		.value = gain_percent(&p->question, r->gain),
		.low = gain_percent(&p->question, r->low),
		.high = gain_percent(&p->question, r->high),
	};
}

static void set_times(const struct profile *p, struct profile_row *row,
		      const struct profile_group *g, size_t member)
{
	double elapsed = figure_mean(g, 1, figure_elapsed, 0);
	double charged = figure_mean(g, 1, figure_charged, 0);
	double part = part_inside(g, member);

	/* Without a run of its own, the survey or the first run of its group knows. */
	if (!row->runs[PROFILE_HALF] && p->candidates[g->members[member]].weight > 0)
		part = p->candidates[g->members[member]].weight;
	row->calls = figure_mean(g, 1, figure_calls, member + 1);
	row->share = part * charged / fmax(elapsed, charged);
	row->wall = part * charged / elapsed;
	row->threads = figure_mean(g, 1, figure_threads, 0);
}

/* The gain that a part of the time promises, in percent. */
static double promise(const struct whatif_question *q, double part)
{
	double rest = 1 - profile_cuts[PROFILE_HALF] * fmin(part, 1);

	return gain_percent(q, -log(rest));
}

/* Does the metric tell how fast work passes? A printed number may be anything. */
static bool is_time(const struct whatif_question *q)
{
	return q->metric.kind == METRIC_ELAPSED || q->metric.kind == METRIC_PROGRESS ||
	       q->metric.kind == METRIC_LATENCY;
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
		bool little = row->share < LITTLE;

		/*
		 * Could the gain be as large as the share promises? With little time, that
		 * does not matter within the precision.
		 */
		if (gain->high >= WAITS_MIN * promised &&
		    (!little || gain->high > q->precision))
			return PROFILE_UNCERTAIN;
		return little ? PROFILE_LITTLE : PROFILE_OFF_PATH;
	}
	/* By itself a function saves no more than its own time. */
	if (gain->low > OTHERS_MIN * promise(q, row->wall) &&
	    gain->low > promise(q, row->wall) + q->precision)
		return row->threads > 1 && is_time(q) ? PROFILE_OTHERS_WAIT :
							PROFILE_MORE;
	return gain->value >= WAITS_MIN * promised ? PROFILE_WAITS :
						     PROFILE_HIDDEN;
}

static void fill_row(const struct profile *p, size_t group, size_t member,
		     struct profile_row *row)
{
	const struct profile_group *g = &p->groups[group];
	size_t half = profile_race_row(p, group,
				       profile_condition(g, member, PROFILE_HALF));

	for (int cut = 0; cut < PROFILE_CUTS; cut++) {
		size_t r = profile_race_row(p, group,
					    profile_condition(g, member, cut));

		row->gain[cut] = gain_of(p, r);
		row->runs[cut] = p->answer.race.rows[r].runs;
		if (cut == PROFILE_HALF)
			row->control = p->answer.race.rows[r].control;
	}
	set_times(p, row, g, member);
	row->why = explain(p, row);
	if (race_is_doubtful(&p->answer.race, &p->answer.race.rows[half]))
		row->why = PROFILE_DOUBTFUL;
}

/* Is nearly all time of inner inside calls of outer, but not the reverse? */
static bool is_inner(const struct profile_group *g, size_t outer, size_t inner)
{
	return part_nested(g, outer, inner) > SAME && part_nested(g, inner, outer) < SAME;
}

static bool gains_same(const struct profile_row *outer, const struct profile_row *inner)
{
	const struct interval *a = &outer->gain[PROFILE_HALF];
	const struct interval *b = &inner->gain[PROFILE_HALF];

	return b->low > 0 && inner->share > SAME * outer->share &&
	       ((a->low <= b->value && b->value <= a->high) ||
		(b->low <= a->value && a->value <= b->high));
}

/* Returns a member inside of the one at @at that gains what outer does, or @at. */
static size_t step_inside(const struct profile_group *g, size_t at,
			  const struct profile_row *rows,
			  const struct profile_row *outer)
{
	for (size_t m = 0; m < g->count; m++)
		if (m != at && gains_same(outer, &rows[g->members[m]]) &&
		    is_inner(g, at, m))
			return m;
	return at;
}

/*
 * A function that only calls another one gains what that one gains. Follows the calls
 * from a member, as far as the gain is the same. rows: in the order of candidates.
 */
static size_t find_inner(const struct profile_group *g, size_t member,
			 const struct profile_row *rows)
{
	size_t at = member;

	for (size_t steps = 1; steps < g->count; steps++)
		at = step_inside(g, at, rows, &rows[g->members[member]]);
	return g->members[at];
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
			.candidate = i, .inner = i, .why = PROFILE_UNKNOWN,
			.share = NAN, .wall = NAN, .calls = NAN,
			.gain = { { NAN, NAN, NAN }, { NAN, NAN, NAN },
				  { NAN, NAN, NAN } },
		};
	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct profile_group *g = &p->groups[i];

		for (size_t m = 0; m < g->count; m++)
			fill_row(p, i, m, &a->rows[g->members[m]]);
		for (size_t m = 0; m < g->count; m++)
			a->rows[g->members[m]].inner = find_inner(g, m, a->rows);
	}
	qsort(a->rows, a->nr_rows, sizeof(*a->rows), by_gain);
}

static double baseline(const struct profile *p)
{
	double sum = 0, mean;
	size_t groups = 0;

	for (size_t i = 0; i < p->nr_groups; i++) {
		mean = figure_mean(&p->groups[i], 1, figure_metric, 0);
		if (isnan(mean))
			continue;
		sum += mean;
		groups++;
	}
	return groups ? sum / groups : NAN;
}

/* A candidate runs once before it counts as whole, so that its row has a gain. */
static void find_whole(struct profile *p)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct profile_group *g = &p->groups[i];

		for (size_t m = 0; m < g->count; m++) {
			struct profile_candidate *c = &p->candidates[g->members[m]];
			size_t half = profile_condition(g, m, PROFILE_HALF);

			c->whole = !isnan(figure_mean(g, half, figure_charged, 0)) &&
				   part_inside(g, m) > PROFILE_PART_WHOLE;
		}
	}
}

static void leave_none_out(struct profile *p)
{
	for (size_t i = 0; i < p->nr_groups; i++)
		for (size_t k = 0; k < p->groups[i].w.samples.count; k++)
			p->groups[i].w.samples.list[k].left_out = false;
}

static void choose_controls(struct profile *p)
{
	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct profile_group *g = &p->groups[i];

		for (size_t k = 0; k < PROFILE_CUTS * g->count; k++) {
			size_t member = k % g->count;
			size_t condition = profile_condition(g, member, k / g->count);
			size_t row = profile_race_row(p, i, condition);
			struct race_row *r = &p->answer.race.rows[row];

			r->control = figure_control(p, g, condition, member, &r->doubt);
		}
	}
}

/* Looks at the race, and takes the runs that it leaves out from all figures. */
static void look(struct profile *p)
{
	struct race *race = &p->answer.race;
	const struct race_run *run = race->runs;

	choose_controls(p);
	race->slope[RACE_CPU] = expected_slope(p);
	race_look(race);
	for (size_t i = 0; i < p->nr_groups; i++) {
		struct whatif_samples *samples = &p->groups[i].w.samples;

		for (size_t k = 0; k < samples->count; k++)
			if (figure_counts(&samples->list[k]))
				samples->list[k].left_out = !race_counts(race, run++);
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
		/* Nothing else on the machine changes a count of instructions. */
		.disturbances = !p->question.deterministic,
	};
	leave_none_out(p);
	find_whole(p);
	add_rows(&a->race, p);
	add_runs(&a->race, p);
	look(p);
	/* The runs that are left out were a part of the figures up to here. */
	if (race_left_out(&a->race))
		look(p);
	if (part_follow(&a->race, p))
		look(p);
	fill_rows(p);
	a->runs = a->race.nr_runs;
	a->separated = race_separated(&a->race);
	a->baseline = baseline(p);
}
