// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "base/util.h"
#include "whatif/json-parts.h"
#include "words.h"

/* More than any profile has; the file may be anything. */
#define CANDIDATES_MAX	100000

/* JSON has no NAN and no infinity: both become null. */
static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *candidates(const struct profile *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->nr_candidates; i++) {
		const struct profile_candidate *c = &p->candidates[i];

		json_array_append_new(list, json_pack(
			"{so so so ss so so sb sb}",
			"name", whatif_json_bytes(c->name),
			"object", whatif_json_bytes(c->object),
			"found", whatif_json_found(&c->found),
			"state", profile_state_id(c->state),
			"reason", whatif_json_bytes(c->reason),
			"weight", real(c->weight), "alone", (int)c->alone,
			"finalist", (int)c->finalist));
	}
	return list;
}

static json_t *groups(const struct profile *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->nr_groups; i++) {
		const struct profile_group *g = &p->groups[i];
		json_t *members = json_array();

		for (size_t m = 0; m < g->count; m++)
			json_array_append_new(members, integer(g->members[m]));
		json_array_append_new(list, json_pack("{so so so}",
			"candidates", members,
			"samples", whatif_json_samples(&g->w.question,
						       &g->w.samples),
			"patches", whatif_json_patches(&g->w.samples)));
	}
	return list;
}

static json_t *gain(const struct profile_row *row, enum profile_cut cut)
{
	const struct interval *i = &row->gain[cut];

	return json_pack("{sf so so so so}", "cut", profile_cuts[cut],
			 "gain_percent", real(i->value), "low", real(i->low),
			 "high", real(i->high), "runs",
			 integer(row->runs[cut]));
}

static json_t *functions(const struct profile *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->answer.nr_rows; i++) {
		const struct profile_row *row = &p->answer.rows[i];
		const struct profile_candidate *c =
			&p->candidates[row->candidate];

		json_array_append_new(list, json_pack(
			"{so so so ss so so so so so so ss ss}",
			"candidate", integer(row->candidate),
			"name", whatif_json_bytes(c->name),
			"object", whatif_json_bytes(c->object),
			"state", profile_state_id(c->state),
			"share", real(row->share),
			"share_of_elapsed", real(row->wall),
			"calls", real(row->calls),
			"half", gain(row, PROFILE_HALF),
			"tenth", gain(row, PROFILE_TENTH),
			"free", gain(row, PROFILE_FREE),
			"why", profile_why_id(row->why),
			"control", p->question.deterministic ? "none" :
				   row->control == RACE_CPU ? "cpu" :
							      "reference-loop"));
	}
	return list;
}

static json_t *asked(const struct profile *p)
{
	return json_pack("{so so si}", "time_ns", integer(p->asked.time_ns),
			 "for_ns", integer(p->asked.for_ns), "top",
			 (int)p->asked.top);
}

static json_t *unscalable(const struct profile *p)
{
	return json_pack("{so so so}",
			 "functions", integer(p->unscalable.functions),
			 "share", real(p->unscalable.share),
			 "reason", whatif_json_bytes(p->unscalable.reason));
}

/* NULL without a batch. */
static json_t *batch(const struct profile_batch *b)
{
	json_t *runs = json_array();

	if (!b->count) {
		json_decref(runs);
		return NULL;
	}
	for (size_t i = 0; i < b->count; i++)
		json_array_append_new(runs, json_pack("[oo]",
			integer(b->runs[i].group),
			integer(b->runs[i].condition)));
	return json_pack("{so si si sb}", "runs", runs, "round", (int)b->round,
			 "order", (int)b->order, "succeeded", (int)b->succeeded);
}

int profile_json_write(FILE *f, const struct profile *p)
{
	char *advice = profile_advice(p);
	json_t *root = json_pack(
		"{ss si so so so sb sb sb si so so so so so so so so so so so so so si so so so so sO* sO* so*}",
		"schema", PROFILE_SCHEMA, "version", PROFILE_JSON_VERSION,
		"question", whatif_json_question(&p->question),
		"found", whatif_json_found(&p->found), "asked", asked(p),
		"quiet", (int)p->question.quiet,
		"show_output", (int)p->question.show_output,
		"interrupted", (int)p->interrupted,
		"failure_status", p->failure_status,
		"timed_out", json_boolean(p->timed_out),
		"stages_over", json_boolean(p->stages_over),
		"spent_ns", integer(p->spent_ns),
		"survey_elapsed_ns", integer(p->survey_elapsed_ns),
		"took_ns", integer(p->took_ns),
		"run_ns", integer(p->run_ns),
		"needed_ns", integer(p->needed_ns),
		"dropped_runs", integer(p->dropped),
		"disturbed_runs", integer(race_left_out(&p->answer.race)),
		"unscalable", unscalable(p),
		"environment", whatif_json_environment(&p->environment),
		"candidates", candidates(p), "groups", groups(p),
		"separated", (int)p->answer.separated,
		"runs", integer(p->answer.runs),
		"baseline", real(p->answer.baseline),
		"functions", functions(p), "advice",
		json_text(advice, strlen(advice)), "waits", p->waits,
		"stacks", p->stacks,
		"batch", batch(&p->batch));

	free(advice);
	return json_write(f, root);
}

static uint64_t whole(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value < 0 ? 0 : value;
}

static bool flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void load_unscalable(const json_t *from, struct profile *p)
{
	p->unscalable.functions = whole(from, "functions");
	p->unscalable.share = json_number_value(json_object_get(from, "share"));
	p->unscalable.reason = whatif_json_copy(json_object_get(from, "reason"));
}

static bool load_state(const json_t *from, enum profile_state *state)
{
	const char *id = json_string_value(json_object_get(from, "state"));

	for (int s = PROFILE_READY; id && s <= PROFILE_REFUSED; s++) {
		if (strcmp(id, profile_state_id(s)) != 0)
			continue;
		*state = s;
		return true;
	}
	return false;
}

static bool load_candidate(const json_t *from, struct profile *p)
{
	char *name = whatif_json_copy(json_object_get(from, "name"));
	struct profile_candidate *c;

	if (!name)
		return false;
	c = profile_add(p, name,
			whatif_json_copy(json_object_get(from, "object")));
	c->reason = whatif_json_copy(json_object_get(from, "reason"));
	c->weight = json_number_value(json_object_get(from, "weight"));
	c->alone = flag(from, "alone");
	c->finalist = flag(from, "finalist");
	return load_state(from, &c->state) &&
	       whatif_json_load_found(json_object_get(from, "found"),
				      &c->found);
}

static bool load_candidates(const json_t *list, struct profile *p)
{
	size_t n = json_array_size(list);

	if (!n || n > CANDIDATES_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!load_candidate(json_array_get(list, i), p))
			return false;
	return true;
}

static bool is_sample_valid(const struct whatif *w,
			    const struct whatif_sample *s)
{
	return s->condition < w->plan.nr_conditions && s->elapsed && s->charged &&
	       (s->round == 0 || (s->metric > 0 && isfinite(s->metric)));
}

static bool load_samples(const json_t *list, struct whatif *w)
{
	size_t n = json_array_size(list);

	w->samples.list = xmalloc((n + 1) * sizeof(*w->samples.list));
	for (size_t i = 0; i < n; i++) {
		struct whatif_sample *s = &w->samples.list[i];

		whatif_json_load_sample(json_array_get(list, i), s);
		if (!is_sample_valid(w, s))
			return false;
		w->samples.count++;
	}
	return true;
}

static bool load_group(const json_t *from, struct profile *p)
{
	const json_t *list = json_object_get(from, "candidates");
	size_t n = json_array_size(list), members[WHATIF_FUNCS_MAX];
	struct whatif *w;

	if (!n || n > profile_room(p))
		return false;
	for (size_t i = 0; i < n; i++) {
		json_int_t index = json_integer_value(json_array_get(list, i));

		if (index < 0 || (size_t)index >= p->nr_candidates)
			return false;
		members[i] = index;
	}
	profile_add_group(p, members, n);
	w = &p->groups[p->nr_groups - 1].w;
	return load_samples(json_object_get(from, "samples"), w) &&
	       whatif_json_load_patches(json_object_get(from, "patches"),
					&w->samples);
}

static bool load_groups(const json_t *list, struct profile *p)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!load_group(json_array_get(list, i), p))
			return false;
	return true;
}

static bool load_batch(const json_t *from, struct profile *p)
{
	const json_t *runs = json_object_get(from, "runs");
	size_t n = json_array_size(runs);
	struct profile_batch *b = &p->batch;

	b->round = whole(from, "round");
	b->order = whole(from, "order");
	b->succeeded = flag(from, "succeeded");
	b->runs = xmalloc((n + 1) * sizeof(*b->runs));
	for (; b->count < n; b->count++) {
		const json_t *run = json_array_get(runs, b->count);
		json_int_t group = json_integer_value(json_array_get(run, 0));
		json_int_t condition = json_integer_value(json_array_get(run, 1));

		if (group < 0 || (size_t)group >= p->nr_groups || condition < 0 ||
		    (size_t)condition >= p->groups[group].w.plan.nr_conditions)
			return false;
		b->runs[b->count] = (struct profile_run){ group, condition };
	}
	return true;
}

/* Returns the name of the first wrong part, or NULL. */
static const char *load(const json_t *root, struct profile *p)
{
	const json_t *from = json_object_get(root, "asked");
	const char *wrong = whatif_json_load_question(
		json_object_get(root, "question"), &p->question);

	if (wrong)
		return "question";
	p->question.quiet = flag(root, "quiet");
	p->question.show_output = flag(root, "show_output");
	p->interrupted = flag(root, "interrupted");
	p->failure_status = whole(root, "failure_status");
	p->timed_out = flag(root, "timed_out");
	p->stages_over = flag(root, "stages_over");
	p->spent_ns = whole(root, "spent_ns");
	p->survey_elapsed_ns = whole(root, "survey_elapsed_ns");
	p->took_ns = whole(root, "took_ns");
	p->run_ns = whole(root, "run_ns");
	p->needed_ns = whole(root, "needed_ns");
	p->dropped = whole(root, "dropped_runs");
	load_unscalable(json_object_get(root, "unscalable"), p);
	if (json_is_array(json_object_get(root, "waits")))
		p->waits = json_incref(json_object_get(root, "waits"));
	if (json_is_array(json_object_get(root, "stacks")))
		p->stacks = json_incref(json_object_get(root, "stacks"));
	p->asked.time_ns = whole(from, "time_ns");
	p->asked.for_ns = whole(from, "for_ns");
	p->asked.top = whole(from, "top");
	if (!p->asked.time_ns)
		return "asked";
	if (!whatif_json_load_found(json_object_get(root, "found"), &p->found))
		return "found";
	if (!load_candidates(json_object_get(root, "candidates"), p))
		return "candidates";
	whatif_json_load_environment(json_object_get(root, "environment"),
				     &p->environment);
	if (!load_groups(json_object_get(root, "groups"), p))
		return "groups";
	return load_batch(json_object_get(root, "batch"), p) ? NULL : "batch";
}

char *profile_json_read(FILE *f, struct profile *p)
{
	json_t *root;
	char *error = whatif_json_open(f, "profile", PROFILE_SCHEMA,
				       PROFILE_JSON_VERSION, &root);

	if (!error)
		error = whatif_json_wrong("profile", load(root, p));
	json_decref(root);
	return error;
}

void profile_json_load(struct profile *p, const char *path)
{
	FILE *f = fopen(path, "re");
	char *error;

	if (!f)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	error = profile_json_read(f, p);
	if (error)
		die(STATUS_FAILED, "%s: %s", path, error);
	fclose(f);
	profile_assess(p);
}
