// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "base/util.h"
#include "cutoffs-output.h"
#include "learnt-file.h"

static const char *const task_names[] = {
	[TASK_SHORT] = "short", [TASK_LONG] = "long",
};

static json_t *text(const char *bytes)
{
	return bytes ? json_text(bytes, strlen(bytes)) : json_null();
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *machine_json(const struct circumstances *c)
{
	json_t *machine = json_object();

	for (int i = 0; i < NR_MACHINE; i++)
		json_object_set_new(machine, machine_fact_name(i),
				    text(c->machine[i]));
	return machine;
}

static json_t *periods_json(const struct learnt *learnt)
{
	json_t *list = json_array();

	for (size_t i = 0; i < learnt->nr_periods; i++) {
		const struct daemon_period *p = &learnt->periods[i];

		json_array_append_new(list, json_pack(
			"{so so so sb sI}", "daemon", text(p->daemon),
			"period_s", number(p->seen.period),
			"error_s", number(p->seen.error),
			"uncertain", periodicity_is_uncertain(&p->seen),
			"occurrences", (json_int_t)p->seen.occurrences));
	}
	return list;
}

static json_t *central_json(const struct runs *runs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < runs->nr_central; i++)
		json_array_append_new(list, json_pack(
			"{so sf sf}", "daemon", text(runs->central[i].daemon),
			"max_process_time_ms", runs->central[i].max,
			"stddev_ms", runs->central[i].stddev));
	return list;
}

static json_t *executions_json(const struct runs *runs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < runs->nr_executions; i++)
		json_array_append_new(list, json_pack(
			"{sI so sf}",
			"sample", (json_int_t)runs->executions[i].sample,
			"daemon", text(runs->executions[i].daemon),
			"process_time_ms", runs->executions[i].ms));
	return list;
}

static json_t *samples_json(const struct series *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(list, json_pack(
			"{sf sf sf sf sb}", "began_s", s->samples[i].began,
			"elapsed_s", s->samples[i].elapsed,
			"process_s", s->samples[i].process,
			"levelled_s", s->samples[i].levelled, "l_sample",
			!learn_is_central(s, i)));
	return list;
}

static json_t *series_json(const struct series *s, const char *task)
{
	return json_pack("{ss sf sI sf sf sf so so so}", "task", task,
			 "length_s", s->length, "asked", (json_int_t)s->asked,
			 "centre_s", s->cluster.centre,
			 "deviation_s", s->cluster.deviation,
			 "bound_s", s->cluster.bound,
			 "central", central_json(&s->runs),
			 "l_executions", executions_json(&s->runs),
			 "samples", samples_json(s));
}

static char *time_text(time_t when)
{
	struct tm tm;
	char line[32];

	gmtime_r(&when, &tm);
	strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return xstrdup(line);
}

json_t *learnt_json(const struct learnt *learnt, const struct circumstances *c)
{
	char *when = time_text(c->when);
	json_t *tasks = json_array(), *root;

	for (int i = TASK_SHORT; i <= TASK_LONG; i++)
		if (learnt->series[i].count)
			json_array_append_new(tasks, series_json(
				&learnt->series[i], task_names[i]));
	root = json_pack("{si so ss sI so so so so}",
			 "version", CUTOFFS_JSON_VERSION,
			 "cutoffs", cutoffs_json(&learnt->cutoffs),
			 "learnt", when, "learnt_unix", (json_int_t)c->when,
			 "machine", machine_json(c),
			 "degraded", text(c->degraded),
			 "periods", periods_json(learnt), "tasks", tasks);
	free(when);
	return root;
}

/* A null is none. */
static double value_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static int parse_period(struct learnt *learnt, json_t *json,
			json_error_t *error)
{
	json_int_t occurrences;
	const char *daemon;

	if (json_unpack_ex(json, error, 0, "{ss sI}", "daemon", &daemon,
			   "occurrences", &occurrences))
		return -1;
	learnt->periods = xrealloc(learnt->periods, (learnt->nr_periods + 1) *
						    sizeof(*learnt->periods));
	learnt->periods[learnt->nr_periods++] = (struct daemon_period){
		.daemon = xstrdup(daemon),
		.seen = { .period = value_of(json, "period_s"),
			  .error = value_of(json, "error_s"),
			  .occurrences = (size_t)occurrences },
	};
	return 0;
}

static int parse_samples(struct series *s, json_t *list, json_error_t *error)
{
	size_t count = json_array_size(list);

	s->samples = xmalloc(count * sizeof(*s->samples));
	for (; s->count < count; s->count++) {
		struct series_sample *sample = &s->samples[s->count];

		if (json_unpack_ex(json_array_get(list, s->count), error, 0,
				   "{sF sF sF}", "began_s", &sample->began,
				   "elapsed_s", &sample->elapsed,
				   "process_s", &sample->process))
			return -1;
		/* The first versions told them by elapsed time. */
		sample->levelled = sample->elapsed;
		json_unpack(json_array_get(list, s->count), "{s?F}",
			    "levelled_s", &sample->levelled);
	}
	return 0;
}

static int parse_series(struct learnt *learnt, json_t *json,
			json_error_t *error)
{
	json_int_t asked;
	struct series *s;
	const char *task;
	json_t *samples;

	if (json_unpack_ex(json, error, 0, "{ss so}", "task", &task,
			   "samples", &samples))
		return -1;
	s = &learnt->series[strcmp(task, "long") ? TASK_SHORT : TASK_LONG];
	if (s->samples)
		return 0;
	if (json_unpack_ex(json, error, 0, "{sF sI sF sF sF}",
			   "length_s", &s->length, "asked", &asked,
			   "centre_s", &s->cluster.centre,
			   "deviation_s", &s->cluster.deviation,
			   "bound_s", &s->cluster.bound))
		return -1;
	s->asked = (size_t)asked;
	return parse_samples(s, samples, error);
}

static void parse_circumstances(struct circumstances *c, const json_t *root)
{
	const json_t *machine = json_object_get(root, "machine");
	const char *why = json_string_value(json_object_get(root, "degraded"));

	c->when = (time_t)json_integer_value(json_object_get(root,
							     "learnt_unix"));
	for (int i = 0; i < NR_MACHINE; i++) {
		const char *fact = json_string_value(json_object_get(
			machine, machine_fact_name(i)));

		c->machine[i] = xstrdup(fact ? fact : "unknown");
	}
	c->degraded = why ? xstrdup(why) : NULL;
}

int learnt_parse(struct learnt *learnt, struct circumstances *c,
		 const json_t *root, const char *path)
{
	const json_t *tasks = json_object_get(root, "tasks");
	const json_t *periods = json_object_get(root, "periods");
	json_error_t error;
	int err = 0;

	*learnt = (struct learnt){ 0 };
	*c = (struct circumstances){ 0 };
	if (!tasks)
		return 1;
	parse_circumstances(c, root);
	for (size_t i = 0; i < json_array_size(tasks) && !err; i++)
		err = parse_series(learnt, json_array_get(tasks, i), &error);
	for (size_t i = 0; i < json_array_size(periods) && !err; i++)
		err = parse_period(learnt, json_array_get(periods, i), &error);
	if (err)
		warn("%s: is damaged: %s: learn again with tense daemons learn",
		     path, error.text);
	return err;
}
