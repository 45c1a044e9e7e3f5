// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "measure-output.h"
#include "protocol.h"
#include "sample-sizes.h"

static json_t *text(const char *bytes)
{
	return bytes ? json_text(bytes, strlen(bytes)) : json_null();
}

/* The first one. */
static json_t *line(const char *bytes)
{
	return json_text(bytes, strcspn(bytes, "\n"));
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *summary_json(const struct summary *s)
{
	return json_pack("{sI so so so so so so so}",
			 "samples", (json_int_t)s->count,
			 "mean", number(s->mean),
			 "min", number(s->min), "max", number(s->max),
			 "stddev", number(s->stddev),
			 "relative_error", number(s->stddev / s->mean),
			 "low", number(s->low), "high", number(s->high));
}

static json_t *others_json(const struct activities *others)
{
	json_t *list = json_array();

	for (size_t i = 0; i < others->count; i++)
		json_array_append_new(list, json_pack(
			"{so si sI}", "name", text(others->list[i].name),
			"process", (int)others->list[i].process,
			"ns", (json_int_t)others->list[i].ns));
	return list;
}

static json_t *sample_json(const struct subject *subject, size_t i)
{
	const struct sample *s = &subject->samples[i];
	json_t *json = json_pack(
		"{so so so so si sb si so so}",
		"user_s", number(s->user), "system_s", number(s->system),
		"loop_s", number(s->loop),
		"clock_stepped_s", number(s->stepped),
		"left_behind", (int)s->left,
		"exits_lost", s->exits_lost,
		"ticks", (int)s->ticks,
		"dropped_for", s->fate == SAMPLE_DAEMON ?
			text(s->others.list[s->by].name) : json_null(),
		"others", others_json(&s->others));
	json_t *kept = json_object();

	for (int j = 0; j < NR_METRICS; j++) {
		json_object_set_new(json, metric_key(j), number(s->values[j]));
		json_object_set_new(kept, metric_key(j),
				    json_boolean(subject->kept[j][i]));
	}
	json_object_set_new(json, "kept", kept);
	return json;
}

static json_t *best_json(const struct subject *s)
{
	json_t *json = json_object();

	for (int i = 0; i < NR_BEST; i++)
		json_object_set_new(json, metric_key(i), json_pack(
			"{so so sb}", "best", number(s->best[i].best[0]),
			"spread", number(kbest_spread(&s->best[i])),
			"converged", kbest_converged(&s->best[i])));
	return json;
}

static json_t *subject_json(const struct measurement *m,
			    const struct subject *s)
{
	json_t *samples = json_array(), *argv = json_array();
	json_t *all = json_object(), *emp = json_object();

	for (char **arg = s->argv; *arg; arg++)
		json_array_append_new(argv, text(*arg));
	for (int i = 0; i < NR_METRICS; i++) {
		json_object_set_new(all, metric_key(i), summary_json(&s->all[i]));
		json_object_set_new(emp, metric_key(i), summary_json(&s->emp[i]));
	}
	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(samples, sample_json(s, i));
	return json_pack("{so so so so so so so}", "title", text(s->title),
			 "command", argv, "all", all, "emp", emp,
			 "k_best", m->protocol == PROTOCOL_KBEST ?
				best_json(s) : json_null(),
			 "reference_p", number(s->reference_better),
			 "samples", samples);
}

static json_t *ratios_json(const struct measurement *m)
{
	json_t *ratios = json_object();

	for (int i = 0; i < NR_METRICS; i++) {
		const struct ratio *r = &m->ratios[i];

		json_object_set_new(ratios, metric_key(i), json_pack(
			"{sI so so so ss}", "pairs", (json_int_t)r->count,
			"ratio", number(r->ratio), "low", number(r->low),
			"high", number(r->high),
			"verdict", verdict_name(r->verdict)));
	}
	return ratios;
}

static json_t *fact_json(const struct fact *fact)
{
	const char *value = fact->value;
	char *end;
	double real;

	if (!strcmp(value, FACT_UNKNOWN))
		return json_null();
	if (fact->kind == FACT_NUMBER) {
		real = strtod(value, &end);
		if (!*end)
			return strchr(value, '.') ? json_real(real) :
						    json_integer((json_int_t)real);
	}
	if (fact->kind == FACT_SWITCH &&
	    (!strcmp(value, "on") || !strcmp(value, "yes")))
		return json_true();
	if (fact->kind == FACT_SWITCH &&
	    (!strcmp(value, "off") || !strcmp(value, "no")))
		return json_false();
	return text(value);
}

static json_t *environment_json(const struct environment *e)
{
	json_t *json = json_object();

	for (size_t i = 0; i < e->count; i++)
		json_object_set_new(json, e->facts[i].name,
				    fact_json(&e->facts[i]));
	return json;
}

static json_t *disturbances_json(const struct measurement *m)
{
	json_t *json = json_array();
	struct disturbance *list;
	size_t count = measure_disturbances(m, &list);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(json, json_pack(
			"{so sI so so sI}", "name", text(list[i].name),
			"samples", (json_int_t)list[i].samples,
			"longest_s", number(list[i].longest),
			"total_s", number(list[i].total),
			"dropped", (json_int_t)list[i].dropped));
	free(list);
	return json;
}

static json_t *changes_json(const struct measurement *m)
{
	json_t *json = m->tuned ? json_array() : json_null();

	for (size_t i = 0; i < m->changes.count; i++) {
		const struct change *c = &m->changes.list[i];

		json_array_append_new(json, json_pack(
			"{so so so}", c->unit ? "unit" : "file", text(c->name),
			"found", line(c->found), "set", line(c->set)));
	}
	return json;
}

static json_t *compensation_json(const struct compensation *c)
{
	return c->tick > 0 ? json_pack("{sf sf}", "tick_s", c->tick,
				       "cost_s", c->cost) : json_null();
}

static json_t *advice_json(const struct measurement *m)
{
	const struct protocol_advice advice = protocol_advise(m);
	json_t *json;
	char *sentence;

	if (!advice.id)
		return json_null();
	sentence = protocol_advice_text(&advice);
	json = json_pack("{ss ss so}", "id", advice.id,
			 "protocol", protocol_name(advice.protocol),
			 "text", text(sentence));
	free(sentence);
	return json;
}

int measure_json(FILE *f, const struct measurement *m)
{
	json_t *subjects = json_array(), *root;

	for (size_t i = 0; i < m->nr_subjects; i++)
		json_array_append_new(subjects, subject_json(m, &m->subjects[i]));
	root = json_pack(
		"{si ss ss ss so ss sb so sI so so so so so so so so}",
		"version", MEASURE_JSON_VERSION, "tense", TENSE_VERSION,
		"protocol", protocol_name(m->protocol),
		"protocol_asked", protocol_name(m->asked),
		"protocol_advice", advice_json(m),
		"clock", stopwatch_name(m->clock), "cold", m->cold,
		"compensation", compensation_json(&m->compensation),
		"warmup", (json_int_t)m->warmup,
		"degraded", text(m->degraded), "cutoffs", text(m->cutoffs.path),
		"environment", environment_json(&m->environment),
		"tuned", changes_json(m),
		"meanwhile", json_pack(
			"{so sI sI}",
			"stolen_s", number(m->after.stolen - m->before.stolen),
			"swapped_pages", (json_int_t)(m->after.swapped -
						      m->before.swapped),
			"throttled", (json_int_t)(m->after.throttled -
						  m->before.throttled)),
		"loop_s", number(measure_loop(m)),
		"others", disturbances_json(m),
		"commands", subjects);
	if (m->choose_samples)
		json_object_set_new(root, "sample_sizes",
				    sample_sizes_json(m));
	if (m->nr_subjects == 2)
		json_object_set_new(root, "ratios", ratios_json(m));
	return json_write(f, root);
}
