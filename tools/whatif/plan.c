// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>

#include <linux/tense.h>

#include "base/util.h"
#include "whatif.h"

_Static_assert(WHATIF_SLOTS == TENSE_SLOTS, "a slot of the kernel's is a slot");

unsigned int whatif_progress_slot(const struct whatif *w)
{
	return w->metric.kind == METRIC_PROGRESS ? w->funcs + 1 : 0;
}

const char *whatif_name(const struct whatif *w, unsigned int name)
{
	if (name >= 1 && name <= w->funcs)
		return w->func[name - 1].name;
	if (name && name == whatif_progress_slot(w))
		return w->metric.pattern;
	if (name == WHATIF_FROM && w->metric.from)
		return w->metric.from;
	if (name == WHATIF_TO && w->metric.to)
		return w->metric.to;
	return "";
}

double whatif_cut(unsigned int percent)
{
	return 1 - (double)TENSE_PERCENT_REAL * TENSE_FINE / percent;
}

bool whatif_varied(const struct whatif *w, size_t condition, unsigned int slot)
{
	unsigned int percent = slot < WHATIF_SLOTS ?
			       w->conditions[condition].percent[slot] : 0;

	return percent && percent != TENSE_PERCENT_REAL * TENSE_FINE;
}

static struct whatif_condition *add_condition(struct whatif *w,
					      enum condition_kind kind,
					      char *name)
{
	unsigned int progress = whatif_progress_slot(w);
	struct whatif_condition *c;

	w->conditions = xrealloc(w->conditions, (w->nr_conditions + 1) *
				 sizeof(*w->conditions));
	c = &w->conditions[w->nr_conditions++];
	*c = (struct whatif_condition){
		.name = name, .kind = kind, .cut = NAN,
	};
	for (size_t i = 0; kind != CONDITION_BASELINE && i < w->funcs; i++)
		c->percent[i + 1] = TENSE_PERCENT_REAL * TENSE_FINE;
	/* It is counted in every run. */
	if (progress)
		c->percent[progress] = TENSE_PERCENT_REAL * TENSE_FINE;
	return c;
}

static unsigned int percent_of(double cut)
{
	double percent = TENSE_PERCENT_REAL / (1 - cut);

	if (percent < TENSE_PERCENT_MIN)
		percent = TENSE_PERCENT_MIN;
	if (percent > TENSE_PERCENT_MAX)
		percent = TENSE_PERCENT_MAX;
	return lround(percent * TENSE_FINE);
}

static char *cut_name(double cut)
{
	return cut < 0 ? xprintf("slower %g%%", -100 * cut) :
			 xprintf("faster %g%%", 100 * cut);
}

/* The functions whose percent is said, by name; NULL if none. */
static char *said_name(const struct whatif *w)
{
	char *name = NULL, *longer;

	for (size_t i = 0; i < w->funcs; i++) {
		if (!w->func[i].percent)
			continue;
		longer = xprintf("%s%s%s@%g", name ? name : "",
				 name ? " " : "", w->func[i].name,
				 (double)w->func[i].percent / TENSE_FINE);
		free(name);
		name = longer;
	}
	return name;
}

/* only: the one of the functions to vary, or -1 for all. */
static void add_variant(struct whatif *w, double cut, ssize_t only)
{
	char *said = said_name(w), *name = isnan(cut) ? NULL : cut_name(cut);
	struct whatif_condition *c;
	char *full;

	full = xprintf("%s%s%s%s%s", only >= 0 ? w->func[only].name : "",
		       only >= 0 ? " " : "", name ? name : "",
		       name && said ? ", " : "", said ? said : "");
	free(name);
	free(said);
	c = add_condition(w, CONDITION_VARIANT, full);
	c->cut = cut;
	for (size_t i = 0; i < w->funcs; i++) {
		if (w->func[i].percent)
			c->percent[i + 1] = w->func[i].percent;
		else if (only < 0 || (size_t)only == i)
			c->percent[i + 1] = percent_of(cut);
	}
}

static void check_plan(const struct whatif *w, size_t free_funcs)
{
	if (!w->funcs)
		die(STATUS_FAILED, "whatif: no function: name one with --func");
	if (free_funcs && !w->nr_cuts)
		die(STATUS_FAILED, "whatif: how much faster? Say it with --faster 20%%, or with --func %s@125",
		    w->func[0].name);
	if (!free_funcs && w->nr_cuts)
		die(STATUS_FAILED, "whatif: --faster and --slower have nothing to vary: each --func has its own percent");
	if (w->funcs == WHATIF_FUNCS_MAX && whatif_progress_slot(w))
		die(STATUS_FAILED, "whatif: with --progress, at most %d functions",
		    WHATIF_FUNCS_MAX - 1);
	for (size_t i = 0; i < w->nr_cuts; i++)
		if (w->cuts[i] != 0 &&
		    percent_of(w->cuts[i]) == TENSE_PERCENT_REAL * TENSE_FINE)
			die(STATUS_FAILED, "whatif: a change by %g%% is too small to be run",
			    100 * w->cuts[i]);
}

const char *whatif_plan_runs(struct whatif *w)
{
	if (w->runs && w->max_runs)
		return "--runs fixes the number of runs, and --max-runs limits it: use only one of them";
	if (!w->deterministic && w->runs)
		return "--runs is for --deterministic: otherwise --precision and --max-runs say how many";
	if (w->runs)
		w->max_runs = w->runs;
	else if (!w->max_runs)
		w->max_runs = w->deterministic ? WHATIF_EXACT_ROUNDS_MAX :
						 WHATIF_ROUNDS_MAX;
	return NULL;
}

void whatif_plan(struct whatif *w)
{
	size_t free_funcs = 0;

	for (size_t i = 0; i < w->funcs; i++)
		free_funcs += !w->func[i].percent;
	check_plan(w, free_funcs);
	add_condition(w, CONDITION_BASELINE, xstrdup("baseline"));
	add_condition(w, CONDITION_NULL, xstrdup("null"));
	if (!free_funcs)
		add_variant(w, NAN, -1);
	for (size_t i = 0; i < w->nr_cuts; i++) {
		/* A range may begin with 0, which is the null experiment. */
		if (w->cuts[i] == 0)
			continue;
		if (!w->each)
			add_variant(w, w->cuts[i], -1);
		for (size_t f = 0; w->each && f < w->funcs; f++)
			if (!w->func[f].percent)
				add_variant(w, w->cuts[i], f);
	}
	if (w->nr_conditions == CONDITIONS_FIRST)
		die(STATUS_FAILED, "whatif: nothing to vary: a change by 0%% is none");
}

size_t whatif_rounds(const struct whatif *w)
{
	size_t rounds = w->nr_samples / w->nr_conditions;

	return rounds ? rounds - 1 : 0;
}

/* Samples lie by round, and in a round by condition; the first is discarded. */
const struct whatif_sample *whatif_at(const struct whatif *w, size_t condition,
				      size_t round)
{
	return &w->samples[(round + 1) * w->nr_conditions + condition];
}
