// SPDX-License-Identifier: GPL-2.0
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The last one is the percent that is nearest to no time at all. */
const double profile_cuts[PROFILE_CUTS] = {
	[PROFILE_HALF] = 0.5, [PROFILE_TENTH] = 0.1, [PROFILE_FREE] = 0.999,
};

/* With the survey's period, a run of this time has 100 samples. */
#define SHORT_NS	100e6

struct profile_candidate *profile_add(struct profile *p, char *name,
				      char *object)
{
	struct profile_candidate *c;

	p->candidates = xrealloc(p->candidates, (p->nr_candidates + 1) *
						sizeof(*p->candidates));
	c = &p->candidates[p->nr_candidates++];
	*c = (struct profile_candidate){ .name = name, .object = object };
	return c;
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void add_probes(struct whatif_found *to, unsigned int slot,
		       const struct whatif_found *from, unsigned int name)
{
	to->probes = xrealloc(to->probes, (to->nr_probes + from->nr_probes + 1) *
					  sizeof(*to->probes));
	for (size_t i = 0; i < from->nr_probes; i++) {
		const struct whatif_probe *probe = &from->probes[i];

		if (probe->slot != name)
			continue;
		to->probes[to->nr_probes++] = (struct whatif_probe){
			.slot = slot, .object = xstrdup(probe->object),
			.symbol = xstrdup(probe->symbol),
			.offset = probe->offset,
		};
	}
}

static void add_member(struct profile *p, struct profile_group *g, size_t index)
{
	const struct profile_candidate *c = &p->candidates[index];
	struct whatif_question *q = &g->w.question;
	unsigned int slot = ++q->funcs;

	q->func[slot - 1] = (struct whatif_func){ .name = xstrdup(c->name) };
	g->w.found.specs[slot] = copy(c->found.specs[1]);
	add_probes(&g->w.found, slot, &c->found, 1);
	g->members[g->count++] = index;
}

static struct profile_group *add_group(struct profile *p)
{
	const struct whatif_question *q = &p->question;
	struct profile_group *g;

	p->groups = xrealloc(p->groups, (p->nr_groups + 1) * sizeof(*g));
	g = &p->groups[p->nr_groups++];
	*g = (struct profile_group){ .w.question = *q };
	g->w.question.own_argv = false;
	g->w.question.metric.pattern = copy(q->metric.pattern);
	g->w.question.metric.from = copy(q->metric.from);
	g->w.question.metric.to = copy(q->metric.to);
	g->w.question.prepare = copy(q->prepare);
	g->w.question.input = copy(q->input);
	g->w.question.each = true;
	g->w.question.cuts = xmalloc(sizeof(profile_cuts));
	memcpy(g->w.question.cuts, profile_cuts, sizeof(profile_cuts));
	g->w.question.nr_cuts = PROFILE_CUTS;
	return g;
}

/* The functions of the metric are instrumented in each group. */
static void add_metric(const struct profile *p, struct whatif *w)
{
	unsigned int progress = whatif_progress_slot(&w->question);
	/* Its slot in a question without functions. */
	unsigned int alone = whatif_progress_slot(&p->question);

	for (unsigned int i = WHATIF_FROM; i <= WHATIF_TO; i++)
		w->found.specs[i] = copy(p->found.specs[i]);
	if (!progress)
		return;
	w->found.specs[progress] = copy(p->found.specs[alone]);
	add_probes(&w->found, progress, &p->found, alone);
}

size_t profile_room(const struct profile *p)
{
	return whatif_progress_slot(&p->question) ? WHATIF_FUNCS_MAX - 1 :
						    WHATIF_FUNCS_MAX;
}

static void free_groups(struct profile *p)
{
	for (size_t i = 0; i < p->nr_groups; i++)
		whatif_free(&p->groups[i].w);
	free(p->groups);
	p->groups = NULL;
	p->nr_groups = 0;
}

void profile_add_group(struct profile *p, const size_t *members, size_t count)
{
	struct profile_group *g = add_group(p);
	struct whatif *w = &g->w;

	for (size_t i = 0; i < count; i++)
		add_member(p, g, members[i]);
	add_metric(p, w);
	whatif_plan(&w->question, &w->plan);
	w->samples.per_round = w->plan.nr_conditions;
}

double profile_urgency(const struct profile_candidate *c)
{
	return c->weight > PROFILE_PART_WHOLE ? c->weight - 1 : c->weight;
}

size_t profile_list_ready(const struct profile *p, size_t *list)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nr_candidates; i++) {
		const struct profile_candidate *c = &p->candidates[i];
		size_t k = n;

		if (c->state != PROFILE_READY)
			continue;
		for (; k && profile_urgency(&p->candidates[list[k - 1]]) <
			    profile_urgency(c); k--)
			list[k] = list[k - 1];
		list[k] = i;
		n++;
	}
	return n;
}

/* Keeps those that share a group, or those that do not. */
static size_t list_by_alone(const struct profile *p, bool alone, size_t *list)
{
	size_t ready = profile_list_ready(p, list), n = 0;

	for (size_t i = 0; i < ready; i++)
		if (p->candidates[list[i]].alone == alone)
			list[n++] = list[i];
	return n;
}

void profile_group(struct profile *p)
{
	size_t *list = xmalloc((p->nr_candidates + 1) * sizeof(*list));
	size_t shared = list_by_alone(p, false, list), room = profile_room(p);
	size_t groups = (shared + room - 1) / room;

	free_groups(p);
	/* Evenly: a small group has as many null runs as a large one. */
	for (size_t i = 0; i < groups; i++) {
		size_t from = i * shared / groups;

		profile_add_group(p, list + from,
				  (i + 1) * shared / groups - from);
	}
	groups = list_by_alone(p, true, list);
	for (size_t i = 0; i < groups; i++)
		profile_add_group(p, list + i, 1);
	free(list);
}

size_t profile_condition(const struct profile_group *g, size_t member,
			 enum profile_cut cut)
{
	return CONDITIONS_FIRST + cut * g->count + member;
}

size_t profile_race_row(const struct profile *p, size_t group, size_t condition)
{
	size_t row = 0;

	/* Each group has a row for the null runs and each variant. */
	for (size_t i = 0; i < group; i++)
		row += p->groups[i].w.plan.nr_conditions - 1;
	return row + condition - 1;
}

void profile_warn_endless(const struct profile *p)
{
	warn("profile: the command did not end within --time %.0f s: give it more time, or end each run with --for and measure with --progress, --latency or --metric",
	     p->asked.time_ns / 1e9);
}

void profile_warn_short(const struct profile *p, double elapsed_ns)
{
	if (elapsed_ns > 0 && elapsed_ns < SHORT_NS)
		warn("profile: a run of %s takes only %.1f ms, so that its start and chance hide what the functions gain: give it a larger input, or more of the same work, for at least some %.0f ms",
		     p->question.argv[0], elapsed_ns / 1e6, SHORT_NS / 1e6);
}

void profile_free(struct profile *p)
{
	free_groups(p);
	for (size_t i = 0; i < p->nr_candidates; i++) {
		whatif_found_free(&p->candidates[i].found);
		free(p->candidates[i].name);
		free(p->candidates[i].object);
		free(p->candidates[i].reason);
	}
	free(p->candidates);
	json_decref(p->waits);
	json_decref(p->stacks);
	free(p->batch.runs);
	free(p->unscalable.reason);
	race_free(&p->answer.race);
	free(p->answer.rows);
	whatif_question_free(&p->question);
	whatif_found_free(&p->found);
	whatif_environment_free(&p->environment);
}
