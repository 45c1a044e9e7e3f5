// SPDX-License-Identifier: GPL-2.0
#include "plan.h"

#include <math.h>
#include <stdlib.h>

#include <linux/tense.h>

#include "base/util.h"

double whatif_cut(unsigned int percent)
{
	return 1 - (double)TENSE_PERCENT_REAL * TENSE_FINE / percent;
}

bool whatif_varied(const struct whatif_plan *plan, size_t condition,
		   unsigned int slot)
{
	unsigned int percent = slot < WHATIF_SLOTS ?
			       plan->conditions[condition].percent[slot] : 0;

	return percent && percent != TENSE_PERCENT_REAL * TENSE_FINE;
}

static struct whatif_condition *
add_condition(const struct whatif_question *q, struct whatif_plan *plan,
	      enum condition_kind kind, char *name)
{
	unsigned int progress = whatif_progress_slot(q);
	struct whatif_condition *c;

	plan->conditions = xrealloc(plan->conditions,
				    (plan->nr_conditions + 1) * sizeof(*c));
	c = &plan->conditions[plan->nr_conditions++];
	*c = (struct whatif_condition){
		.name = name, .kind = kind, .cut = NAN,
	};
	for (size_t i = 0; kind != CONDITION_BASELINE && i < q->funcs; i++)
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
static char *said_name(const struct whatif_question *q)
{
	char *name = NULL, *longer;

	for (size_t i = 0; i < q->funcs; i++) {
		if (!q->func[i].percent)
			continue;
		longer = xprintf("%s%s%s@%g", name ? name : "",
				 name ? " " : "", q->func[i].name,
				 (double)q->func[i].percent / TENSE_FINE);
		free(name);
		name = longer;
	}
	return name;
}

/* only: the one of the functions to vary, or -1 for all. */
static void add_variant(const struct whatif_question *q,
			struct whatif_plan *plan, double cut, ssize_t only)
{
	char *said = said_name(q);
	char *name = isnan(cut) ? NULL : cut_name(cut);
	struct whatif_condition *c;
	char *full;

	full = xprintf("%s%s%s%s%s", only >= 0 ? q->func[only].name : "",
		       only >= 0 ? " " : "", name ? name : "",
		       name && said ? ", " : "", said ? said : "");
	free(name);
	free(said);
	c = add_condition(q, plan, CONDITION_VARIANT, full);
	c->cut = cut;
	for (size_t i = 0; i < q->funcs; i++) {
		if (q->func[i].percent)
			c->percent[i + 1] = q->func[i].percent;
		else if (only < 0 || (size_t)only == i)
			c->percent[i + 1] = percent_of(cut);
	}
}

static void check_plan(const struct whatif_question *q, size_t free_funcs)
{
	if (!q->funcs)
		die(STATUS_FAILED, "whatif: no function: name one with --func");
	if (free_funcs && !q->nr_cuts)
		die(STATUS_FAILED, "whatif: how much faster? Say it with --faster 20%%, or with --func %s@125",
		    q->func[0].name);
	if (!free_funcs && q->nr_cuts)
		die(STATUS_FAILED, "whatif: --faster and --slower have nothing to vary: each --func has its own percent");
	if (q->funcs == WHATIF_FUNCS_MAX && whatif_progress_slot(q))
		die(STATUS_FAILED, "whatif: with --progress, at most %d functions",
		    WHATIF_FUNCS_MAX - 1);
	for (size_t i = 0; i < q->nr_cuts; i++)
		if (q->cuts[i] != 0 &&
		    percent_of(q->cuts[i]) == TENSE_PERCENT_REAL * TENSE_FINE)
			die(STATUS_FAILED, "whatif: a change by %g%% is too small to be run",
			    100 * q->cuts[i]);
}

void whatif_plan(const struct whatif_question *q, struct whatif_plan *plan)
{
	size_t free_funcs = 0;

	for (size_t i = 0; i < q->funcs; i++)
		free_funcs += !q->func[i].percent;
	check_plan(q, free_funcs);
	add_condition(q, plan, CONDITION_BASELINE, xstrdup("baseline"));
	add_condition(q, plan, CONDITION_NULL, xstrdup("null"));
	if (!free_funcs)
		add_variant(q, plan, NAN, -1);
	for (size_t i = 0; i < q->nr_cuts; i++) {
		/* A range may begin with 0, which is the null experiment. */
		if (q->cuts[i] == 0)
			continue;
		if (!q->each)
			add_variant(q, plan, q->cuts[i], -1);
		for (size_t f = 0; q->each && f < q->funcs; f++)
			if (!q->func[f].percent)
				add_variant(q, plan, q->cuts[i], f);
	}
	if (plan->nr_conditions == CONDITIONS_FIRST)
		die(STATUS_FAILED, "whatif: nothing to vary: a change by 0%% is none");
}

const char *whatif_kind(enum condition_kind kind)
{
	static const char *const names[] = {
		[CONDITION_BASELINE] = "baseline",
		[CONDITION_NULL] = "null",
		[CONDITION_VARIANT] = "variant",
	};

	return names[kind];
}

void whatif_plan_free(struct whatif_plan *plan)
{
	for (size_t i = 0; i < plan->nr_conditions; i++)
		free(plan->conditions[i].name);
	free(plan->conditions);
}
