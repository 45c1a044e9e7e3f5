// SPDX-License-Identifier: GPL-2.0
/*
 * Chooses the control variate of a row. The CPU time of a run tells the machine's speed
 * if the run does the same work in each condition. A few runs cannot show that it does:
 * then the interval allows for the difference in work that they leave possible.
 */
#include "figures.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

/* If chance makes a difference this rarely, the work differs. */
#define RARE		0.001
/* The bound of a difference in work holds this often. */
#define BOUND		0.975
/* Below this part of the time, a time says nothing about the work. */
#define SHARE_MIN	0.01
/* Above this part, the rest of the time says nothing about the work. */
#define SHARE_MAX	0.9

/* A function that takes this part of a cut longer may wait for a time, at least in part. */
#define TIME_BOUND	0.1

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

/* The work of a run, or of a call of the progress point if there is one. */
static double log_work(const struct whatif_sample *s, unsigned int progress)
{
	double calls = progress ? s->slot[progress].calls + 1.0 : 1;

	return 100 * log(whatif_own_ran(s) / (s->reference + 1.0) / calls);
}

struct difference_of_means {
	double mean, error;
	double df;		/* 0: not known */
};

static struct difference_of_means compare(const struct figure_sum *a,
					  const struct figure_sum *b)
{
	struct difference_of_means d = { 0 };
	double variance;

	if (!a->n || b->n < 2)
		return d;
	d.df = a->n + b->n - 2;
	d.mean = fabs(a->mean - b->mean);
	variance = (a->squares + b->squares) / d.df;
	d.error = sqrt(variance * (1.0 / a->n + 1.0 / b->n));
	return d;
}

/* The runs of a variant, and others with which its work is compared. */
struct work {
	struct figure_runs varied, others;
};

/* Does a figure differ from the null runs, by enough to matter? */
static bool differs(const struct work *w, double matters, figure_fn *figure,
		    unsigned int slot)
{
	const struct figure_runs null = { .group = w->varied.group, .condition = 1 };
	struct figure_sum a = figure_sum(&w->varied, figure, slot);
	struct figure_sum b = figure_sum(&null, figure, slot);
	struct difference_of_means d = compare(&a, &b);

	if (!d.df || d.mean <= matters)
		return false;
	return d.error <= 0 || 2 * gsl_cdf_tdist_Q(d.mean / d.error, d.df) < RARE;
}

/*
 * Returns how much a figure may differ, as a part of 1. The other functions of the group
 * do not change the work of this one, so that their runs count too: a few null runs alone
 * would leave almost everything possible.
 */
static double bound(const struct work *w, figure_fn *figure, unsigned int slot)
{
	struct figure_sum a = figure_sum(&w->varied, figure, slot);
	struct figure_sum b = figure_sum(&w->others, figure, slot);
	struct difference_of_means d = compare(&a, &b);

	if (!d.df)
		return INFINITY;
	return (d.mean + d.error * gsl_cdf_tdist_Pinv(BOUND, d.df)) / 100;
}

enum race_control figure_control(const struct profile *p, const struct profile_group *g,
				 size_t condition, size_t member, double *doubt)
{
	double matters = p->question.precision / 4;
	unsigned int slot = member + 1;
	unsigned int progress = whatif_progress_slot(&g->w.question);
	const struct work w = {
		.varied = { .group = g, .condition = condition },
		.others = { .group = g, .untouched = slot },
	};
	double part = figure_mean(g, 1, figure_part, slot);
	double longer = -100 * log1p(-g->w.plan.conditions[condition].cut);
	bool alone = figure_is_alone(g);

	*doubt = 0;
	/* There is no speed of the machine to be told from the program's. */
	if (p->question.deterministic)
		return RACE_REFERENCE;
	if (differs(&w, matters, log_calls, slot))
		return RACE_REFERENCE;
	/* A thread alone spins for no other one, but perhaps until its clock shows a time. */
	if (part > SHARE_MIN &&
	    differs(&w, alone ? fmax(matters, TIME_BOUND * longer * (1 - part)) : matters,
		    outside, slot))
		return RACE_REFERENCE;
	if (alone)
		return RACE_CPU;
	if (differs(&w, 2 * matters, log_work, progress))
		return RACE_REFERENCE;
	*doubt = bound(&w, log_work, progress);
	if (part > SHARE_MIN && part < SHARE_MAX)
		*doubt = fmin(*doubt, bound(&w, outside, slot));
	if (!isinf(*doubt))
		return RACE_CPU;
	*doubt = 0;
	return RACE_REFERENCE;
}
