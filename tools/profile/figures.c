// SPDX-License-Identifier: GPL-2.0
#include "figures.h"

#include <math.h>

double figure_calls(const struct whatif_sample *s, unsigned int slot)
{
	return s->slot[slot].calls;
}

double figure_metric(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->metric;
}

double figure_elapsed(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->elapsed;
}

double figure_charged(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->charged;
}

double figure_own_ran(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return whatif_own_ran(s);
}

double figure_threads(const struct whatif_sample *s, unsigned int slot)
{
	(void)slot;
	return s->threads;
}

double figure_ran(const struct whatif_sample *s, unsigned int slot)
{
	return s->slot[slot].ran;
}

double figure_part(const struct whatif_sample *s, unsigned int slot)
{
	return s->slot[slot].ran / whatif_own_ran(s);
}

bool figure_counts(const struct whatif_sample *s)
{
	return s->round > 0 && s->condition > 0;
}

static bool is_in(const struct figure_runs *runs, const struct whatif_sample *s)
{
	if (!figure_counts(s) || s->left_out)
		return false;
	if (!runs->untouched)
		return s->condition == runs->condition;
	return !whatif_varied(&runs->group->w.plan, s->condition, runs->untouched);
}

struct figure_sum figure_sum(const struct figure_runs *runs, figure_fn *figure,
			     unsigned int slot)
{
	const struct whatif_samples *samples = &runs->group->w.samples;
	struct figure_sum sum = { .mean = NAN };
	double mean = 0;

	for (size_t i = 0; i < samples->count; i++) {
		const struct whatif_sample *s = &samples->list[i];
		double value, off;

		if (!is_in(runs, s))
			continue;
		value = figure(s, slot);
		off = value - mean;
		mean += off / ++sum.n;
		sum.squares += off * (value - mean);
		sum.mean = mean;
	}
	return sum;
}

double figure_mean(const struct profile_group *g, size_t condition, figure_fn *figure,
		   unsigned int slot)
{
	const struct figure_runs runs = { .group = g, .condition = condition };

	return figure_sum(&runs, figure, slot).mean;
}

bool figure_is_alone(const struct profile_group *g)
{
	return figure_mean(g, 1, figure_threads, 0) < 1.5;
}
