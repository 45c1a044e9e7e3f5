// SPDX-License-Identifier: GPL-2.0
#include "parts.h"

#include <math.h>

#include "figures.h"

/* Less than this part of a function's time inside another one is noise. */
#define NESTED_MIN	0.02
/* Bounds a part, so that a function that is all of the program has a logarithmic gain. */
#define PART_MAX	0.99

struct parts {
	double slot[WHATIF_SLOTS];	/* the part of each slot's time that is inside */
	double mean, deviation;		/* over all n runs of the group */
	size_t n;
};

/*
 * Returns the part of a slot's time that was inside a member. In runs with the member's
 * cut, the slot's virtual time lacks the cut of that part.
 */
static double nested(const struct profile_group *g, size_t member, unsigned int slot)
{
	size_t condition = profile_condition(g, member, PROFILE_HALF);
	double ran = 0, charged = 0, part;

	for (size_t i = 0; i < g->w.samples.count; i++) {
		const struct whatif_sample *s = &g->w.samples.list[i];

		if (!figure_counts(s) || s->left_out || s->condition != condition)
			continue;
		ran += s->slot[slot].ran;
		charged += s->slot[slot].charged;
	}
	part = ran > 0 ? (1 - charged / ran) / profile_cuts[PROFILE_HALF] : 0;
	return part < NESTED_MIN ? 0 : fmin(part, 1);
}

double part_nested(const struct profile_group *g, size_t member, size_t other)
{
	return nested(g, member, other + 1);
}

static void find_slots(const struct profile_group *g, size_t member,
		       struct parts *parts)
{
	for (unsigned int slot = 1; slot < WHATIF_SLOTS; slot++)
		parts->slot[slot] = slot == member + 1 ? 1 : nested(g, member, slot);
}

/*
 * The times are those of null runs, because threads may do other work in a run with a
 * cut. Other members that the function calls have slots of their own. Runs with its cut
 * show how much of their time is inside of it.
 */
double part_inside(const struct profile_group *g, size_t member)
{
	double all = figure_mean(g, 1, figure_own_ran, 0), time = 0;
	struct parts parts;

	find_slots(g, member, &parts);
	for (unsigned int slot = 1; slot < WHATIF_SLOTS; slot++)
		if (parts.slot[slot] > 0)
			time += parts.slot[slot] * figure_mean(g, 1, figure_ran, slot);
	return fmin(time / all, 1);
}

static double part_of(const struct parts *parts, const struct whatif_sample *s)
{
	double part = 0;

	for (unsigned int slot = 1; slot < WHATIF_SLOTS; slot++)
		if (parts->slot[slot] > 0)
			part += parts->slot[slot] * figure_part(s, slot);
	return fmin(part, PART_MAX);
}

static struct parts parts_of(const struct profile_group *g, size_t member)
{
	double mean = 0, squares = 0;
	struct parts parts;

	parts.n = 0;
	find_slots(g, member, &parts);
	for (size_t i = 0; i < g->w.samples.count; i++) {
		const struct whatif_sample *s = &g->w.samples.list[i];
		double part, off;

		if (!figure_counts(s) || s->left_out)
			continue;
		part = part_of(&parts, s);
		off = part - mean;
		mean += off / ++parts.n;
		squares += off * (part - mean);
	}
	parts.mean = mean;
	parts.deviation = parts.n > 1 ? sqrt(squares / (parts.n - 1)) : 0;
	return parts;
}

/* The runs of a row are among the n that a group has from first on. */
static bool follow_row(struct race *race, size_t r, const struct profile_group *g,
		       size_t first, const struct parts *parts, double cut)
{
	struct race_row *row = &race->rows[r];
	double left = 1 - cut * parts->mean, promised = -log(left);
	/* How much more y is if the part is, in all of the program. */
	double slope = cut / left, spread = slope * parts->deviation;
	double efficacy = fmin(fmax(row->gain / promised, 0), 1);
	size_t k = first;

	if (row->control != RACE_CPU || !row->runs || !race->rows[row->null].runs || !(promised > 0) || !(spread > 0))
		return false;
	for (size_t i = 0; i < g->w.samples.count; i++) {
		const struct whatif_sample *s = &g->w.samples.list[i];

		if (!figure_counts(s))
			continue;
		if (race->runs[k].row == r)
			race->runs[k].y -= efficacy * slope *
					   (part_of(parts, s) - parts->mean);
		k++;
	}
	/* The efficacy comes from the same runs. */
	row->spread = spread * fmin(1, spread / promised);
	row->common = efficacy * spread / sqrt(parts->n);
	return true;
}

bool part_follow(struct race *race, const struct profile *p)
{
	bool changed = false;
	size_t first = 0;

	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct profile_group *g = &p->groups[i];
		/* Other threads may do more work in a run with a cut. */
		bool alone = figure_is_alone(g);

		for (size_t m = 0; alone && m < g->count; m++) {
			struct parts parts = parts_of(g, m);

			for (int cut = 0; cut < PROFILE_CUTS; cut++) {
				size_t c = profile_condition(g, m, cut);

				changed |= follow_row(race, profile_race_row(p, i, c), g,
						      first, &parts, profile_cuts[cut]);
			}
		}
		for (size_t k = 0; k < g->w.samples.count; k++)
			first += figure_counts(&g->w.samples.list[k]);
	}
	return changed;
}
