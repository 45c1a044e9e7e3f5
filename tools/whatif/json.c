// SPDX-License-Identifier: GPL-2.0
#include "json-parts.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <linux/tense.h>

#include "base/json-text.h"
#include "base/util.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *text(const char *value)
{
	return value ? json_text(value, strlen(value)) : json_null();
}

/* JSON has no NAN and no infinity: both become null. */
static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Converts thousandths; null for 0. */
static json_t *percent(unsigned int fine)
{
	return fine ? json_real((double)fine / TENSE_FINE) : json_null();
}

static json_t *interval(const struct interval *i)
{
	return json_pack("{so so so}", "value", real(i->value),
			 "low", real(i->low), "high", real(i->high));
}

static json_t *remark(const struct whatif_remark *r)
{
	return r->id ? json_pack("{ss so}", "id", r->id, "text",
				 text(r->text)) : json_null();
}

/* Keeps all bytes: a text that is not UTF-8 becomes {"hex": ...}. */
json_t *whatif_json_bytes(const char *value)
{
	json_t *json = value ? json_string(value) : json_null();
	size_t len = json ? 0 : strlen(value);
	char *hex = json ? NULL : xmalloc(2 * len + 1);

	for (size_t i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)value[i]);
	if (!json)
		json = json_pack("{ss}", "hex", hex);
	free(hex);
	return json;
}

/* An answer uses text(), for readers, and a request whatif_json_bytes(), to lose none. */
typedef json_t *make_text(const char *value);

static json_t *functions(const struct whatif_question *q, make_text *string)
{
	json_t *list = json_array();

	for (size_t i = 0; i < q->funcs; i++)
		json_array_append_new(list, json_pack("{si so so}",
			"slot", (int)i + 1, "name", string(q->func[i].name),
			"percent", percent(q->func[i].percent)));
	return list;
}

static json_t *asked(const struct whatif_question *q, make_text *string)
{
	json_t *cuts = json_array();

	for (size_t i = 0; i < q->nr_cuts; i++)
		json_array_append_new(cuts, real(q->cuts[i]));
	return json_pack("{so sf si so sb so sb so si ss ss ss so}", "cuts", cuts,
			 "precision", q->precision,
			 "max_runs", (int)q->max_runs,
			 "seed", integer(q->seed), "each", (int)q->each,
			 "prepare", string(q->prepare),
			 "ignore_failure", (int)q->ignore_failure,
			 "input", string(q->input),
			 "percent", (int)q->percent,
			 "clock", clock_names[q->choice.clocks],
			 "order", order_names[q->choice.order],
			 "idle", idle_names[q->choice.idle],
			 "window_ns", q->window_ns ? integer(q->window_ns) :
						     json_null());
}

static json_t *load(const struct whatif_environment *e)
{
	return whatif_has_load(e) ? json_pack("[fff]", e->load[0], e->load[1],
					      e->load[2]) : json_null();
}

json_t *whatif_json_environment(const struct whatif_environment *e)
{
	const struct machine m = whatif_environment_machine(e);

	return json_pack("{so so so so so so si so so}",
			 "tense", text(e->tense), "backend", text(e->backend),
			 "kernel", text(e->kernel),
			 "scheduler", text(scheduler_name(m.release)),
			 "host", text(e->host),
			 "cpu", text(e->cpu), "cpus", (int)e->cpus,
			 "load", load(e),
			 "date", text(e->date));
}

static json_t *conditions(const struct whatif_plan *plan, make_text *string)
{
	json_t *list = json_array();

	for (size_t c = 0; c < plan->nr_conditions; c++) {
		const struct whatif_condition *from = &plan->conditions[c];
		json_t *percents = json_object();

		for (unsigned int i = 1; i < WHATIF_SLOTS; i++) {
			char slot[4];

			snprintf(slot, sizeof(slot), "%u", i);
			if (from->percent[i])
				json_object_set_new(percents, slot,
						    percent(from->percent[i]));
		}
		json_array_append_new(list, json_pack("{so ss so so}",
			"name", string(from->name),
			"kind", whatif_kind(from->kind),
			"cut", real(from->cut), "percent", percents));
	}
	return list;
}

/* Lists the slots that were used, by number. */
static json_t *slots(const struct whatif_sample *s)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < WHATIF_SLOTS; i++) {
		if (i && !s->slot[i].calls && !s->slot[i].ran)
			continue;
		json_array_append_new(list, json_pack("{si so so so}",
			"slot", (int)i, "calls", integer(s->slot[i].calls),
			"real_ns", integer(s->slot[i].ran),
			"virtual_ns", integer(s->slot[i].charged)));
	}
	return list;
}

static json_t *latency(const struct whatif_question *q,
		       const struct whatif_sample *s)
{
	const struct whatif_latency *l = &s->latency;

	if (q->metric.kind != METRIC_LATENCY)
		return json_null();
	return json_pack("{so so so so so}", "from", integer(l->from),
			 "to", integer(l->to), "pairs", integer(l->pairs),
			 "lost", integer(l->lost),
			 "median_ns", real(l->median));
}

json_t *whatif_json_samples(const struct whatif_question *q,
			    const struct whatif_samples *samples)
{
	json_t *list = json_array();

	for (size_t i = 0; i < samples->count; i++) {
		const struct whatif_sample *s = &samples->list[i];

		json_array_append_new(list, json_pack(
			"{si si si so so so so so so so so so so si si sf so so so}",
			"round", (int)s->round, "order", (int)s->order,
			"condition", (int)s->condition,
			"began_unix_ns", integer(s->began),
			"ended_unix_ns", integer(s->ended), "metric", real(s->metric),
			"elapsed_virtual_ns", integer(s->elapsed),
			"elapsed_real_ns", integer(s->real),
			"cpu_virtual_ns", integer(s->charged),
			"cpu_real_ns", integer(s->ran),
			"gated_ns", integer(s->gated),
			"overhead_ns", integer(s->overhead),
			"reference_ns", integer(s->reference),
			"threads", (int)s->threads, "status", s->status,
			"pair_ns", s->pair_ns,
			"instruments_start_ns", integer(s->start), "slots", slots(s),
			"latency", latency(q, s)));
	}
	return list;
}

static json_t *spoiled(const struct whatif_samples *samples)
{
	json_t *list = json_array();

	for (size_t i = 0; i < samples->nr_spoiled; i++) {
		const struct whatif_spoiled *s = &samples->spoiled[i];

		json_array_append_new(list, json_pack(
			"{si so sf sf sb}", "round", (int)s->round,
			"daemon", text(s->daemon), "process_time_ms", s->ms,
			"cutoff_ms", s->cutoff, "dropped", (int)s->dropped));
	}
	return list;
}

json_t *whatif_json_patches(const struct whatif_samples *samples)
{
	json_t *list = json_array();

	for (size_t i = 0; i < samples->nr_patches; i++) {
		const struct whatif_patch *p = &samples->patches[i];

		json_array_append_new(list, json_pack(
			"{si sb so so so so si}", "slot", (int)p->slot,
			"patched", (int)p->patched, "object", text(p->object),
			"symbol", text(p->symbol),
			"offset", integer(p->offset),
			p->patched ? "mechanism" : "reason", text(p->how),
			"processes", (int)p->processes));
	}
	return list;
}

static json_t *numbers(const double *values, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, real(values[i]));
	return list;
}

static json_t *results(const struct whatif *w)
{
	json_t *list = json_array();

	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++) {
		const struct whatif_result *r = whatif_result(&w->answer, c);

		json_array_append_new(list, json_pack(
			"{si so so so ss so so so so so so ss so so so}",
			"condition", (int)c,
			"name", text(w->plan.conditions[c].name),
			"change", interval(&r->change),
			"change_by_median", interval(&r->plain),
			"estimator", whatif_estimator_id(r->estimator),
			"fallback", remark(&r->fallback),
			"calls", real(r->calls), "share", real(r->share),
			"cut", real(r->cut), "amdahl", real(r->amdahl),
			"bias_points", real(r->bias_points),
			"verdict", whatif_verdict_id(r->verdict),
			"reason", remark(&r->reason),
			"rounds",
			numbers(r->rounds, whatif_rounds(&w->samples)),
			"rounds_by_median",
			numbers(r->plain_rounds, whatif_rounds(&w->samples))));
	}
	return list;
}

static json_t *warnings(const struct whatif_answer *answer)
{
	json_t *list = json_array();

	for (size_t i = 0; i < answer->nr_warnings; i++)
		json_array_append_new(list, remark(&answer->warnings[i]));
	return list;
}

/* Makes the part that an answer has in common with the request to a guest. */
static json_t *question(const struct whatif_question *q,
			const struct whatif_plan *plan, make_text *string)
{
	json_t *command = json_array();
	const char *unit;

	whatif_unit(q, &unit);
	for (char **arg = q->argv; *arg; arg++)
		json_array_append_new(command, string(*arg));
	return json_pack(
		"{ss si so sb ss s{ss so ss sb} so so so}",
		"schema", WHATIF_SCHEMA, "version", WHATIF_JSON_VERSION,
		"command", command,
		"deterministic", (int)q->deterministic,
		"time_unit", q->deterministic ? "instructions" : "ns",
		"metric",
		"kind", whatif_metric_name(q->metric.kind),
		"pattern", string(q->metric.pattern),
		"unit", whatif_is_time(q) ? "ns" : unit,
		"less_is_better", (int)whatif_less(q),
		"functions", functions(q, string),
		"asked", asked(q, string),
		"conditions", conditions(plan, string));
}

/* Returns root with the members of more, which it releases. */
static json_t *joined(json_t *root, json_t *more)
{
	if (!root || !more || json_object_update(root, more))
		die(STATUS_FAILED, "cannot make JSON: out of memory");
	json_decref(more);
	return root;
}

json_t *whatif_json_question(const struct whatif_question *q)
{
	static const struct whatif_plan none;

	return question(q, &none, whatif_json_bytes);
}

json_t *whatif_json(const struct whatif *w)
{
	json_t *rest = json_pack(
		"{so so so so so s{so ss} so so}",
		"environment", whatif_json_environment(&w->samples.environment),
		"samples", whatif_json_samples(&w->question, &w->samples),
		"spoiled_rounds", spoiled(&w->samples),
		"patches", whatif_json_patches(&w->samples),
		"rounds", integer(whatif_rounds(&w->samples)),
		"null_experiment", "bias", interval(&w->answer.bias),
		"estimator", whatif_estimator_id(w->answer.bias_estimator),
		"results", results(w), "warnings", warnings(&w->answer));

	return joined(question(&w->question, &w->plan, text), rest);
}

int whatif_json_write(FILE *f, const struct whatif *w)
{
	return json_write(f, whatif_json(w));
}

/* The functions that were found before the first run. */
json_t *whatif_json_found(const struct whatif_found *found)
{
	json_t *names = json_array(), *probes = json_array();

	for (unsigned int i = 0; i < WHATIF_NAMES; i++)
		if (found->specs[i])
			json_array_append_new(names, json_pack("{si so}",
				"name", (int)i,
				"functions", whatif_json_bytes(found->specs[i])));
	for (size_t i = 0; i < found->nr_probes; i++) {
		const struct whatif_probe *p = &found->probes[i];

		json_array_append_new(probes, json_pack("{si so so so}",
			"slot", (int)p->slot, "object", whatif_json_bytes(p->object),
			"symbol", whatif_json_bytes(p->symbol),
			"offset", integer(p->offset)));
	}
	return json_pack("{so so}", "names", names, "probes", probes);
}

int whatif_request_write(FILE *f, const struct whatif_question *q,
			 const struct whatif_found *found,
			 const struct whatif_plan *plan)
{
	json_t *rest = json_pack("{so si sb sb}", "found",
				 whatif_json_found(found),
				 "runs", (int)q->runs,
				 "show_output", (int)q->show_output,
				 "quiet", (int)q->quiet);

	return json_write(f, joined(question(q, plan, whatif_json_bytes), rest));
}
