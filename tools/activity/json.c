// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/json-text.h"
#include "output.h"

static json_t *text(const char *bytes)
{
	return json_text(bytes, strlen(bytes));
}

static json_t *quality_json(const struct tense_clock_quality *q)
{
	return q->latency_ns > 0 ?
	       json_pack("{sf sf}", "resolution_ns", q->resolution_ns,
			 "latency_ns", q->latency_ns) : json_null();
}

static json_t *root_json(const struct watcher *w)
{
	return json_pack("{si ss si sf s{ss sf sI sI so so}}",
			 "version", PERIODS_JSON_VERSION,
			 "tense", TENSE_VERSION, "cpu", w->cpu,
			 "kernel_tick_ms", w->tick_ns / 1e6,
			 "counter",
			 "unit", w->counter.clock == TENSE_CLOCK_COUNTER ?
				 "cycle" : "ns",
			 "ns", w->counter.ns, "turn", (json_int_t)w->turn,
			 "threshold", (json_int_t)w->threshold,
			 "cycles", quality_json(&w->counter.counter),
			 "gettime", quality_json(&w->counter.gettime));
}

static json_t *share_json(const struct share *s)
{
	return json_pack("{sI sI sI sI sI}", "periods", (json_int_t)s->count,
			 "total", (json_int_t)s->total,
			 "shortest", (json_int_t)s->shortest,
			 "median", (json_int_t)s->median,
			 "longest", (json_int_t)s->longest);
}

static json_t *shares_json(const struct recording *r)
{
	static const char *const keys[] = {
		[CAUSE_TIMER] = "timer", [CAUSE_PROCESS] = "process",
		[CAUSE_OTHER] = "other",
	};
	struct share all = periods_inactive(r);
	json_t *json = json_pack("{so}", "all", share_json(&all));

	for (int i = 0; i < NR_CAUSES; i++) {
		struct share s = periods_share(r, i);

		json_object_set_new(json, keys[i], share_json(&s));
	}
	return json;
}

static json_t *timer_json(const struct recording *r)
{
	const struct timer *t = &r->timer;

	if (t->interval <= 0)
		return json_null();
	return json_pack("{sf sf sf sf sI sI}", "interval", t->interval,
			 "interval_ms", t->interval * r->ns / 1e6,
			 "error", t->error,
			 "error_ms", t->error * r->ns / 1e6,
			 "seen", (json_int_t)t->seen,
			 "expected", (json_int_t)t->expected);
}

static json_t *interrupts_json(const struct recording *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->interrupts.count; i++) {
		const struct interrupt *one = &r->interrupts.list[i];

		json_array_append_new(list, json_pack(
			"{so so sI}", "name", text(one->name),
			"what", text(one->what),
			"count", (json_int_t)one->count));
	}
	return list;
}

static json_t *periods_json(const struct recording *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < periods_count(r); i++) {
		struct period p = periods_at(r, i);
		uint64_t duration = p.end - p.begin;

		json_array_append_new(list, json_pack(
			"{sb sI sf sI sf so}", "active", !p.gap,
			"start", (json_int_t)p.begin,
			"start_ms", (double)p.begin * r->ns / 1e6,
			"duration", (json_int_t)duration,
			"duration_ms", (double)duration * r->ns / 1e6,
			"by", p.gap ? text(cause_name(p.gap->cause)) :
				      json_null()));
	}
	return list;
}

static json_t *recording_json(const struct recording *r)
{
	struct share cost = periods_interrupt_cost(r);

	return json_pack(
		"{sI sI sf sf sb sf so so so so so so}",
		"load", (json_int_t)r->load,
		"duration", (json_int_t)r->length,
		"duration_ms", (double)r->length * r->ns / 1e6,
		"unit_ns", r->ns, "ended_early", (int)r->full,
		"stolen_s", r->stolen, "timer", timer_json(r),
		"interrupt_cost", cost.count ? share_json(&cost) : json_null(),
		"interrupt_least_ns", r->least_ns > 0 ?
			json_real(r->least_ns) : json_null(),
		"inactive", shares_json(r), "interrupts", interrupts_json(r),
		"periods", periods_json(r));
}

int activity_json(FILE *f, const struct activity *a)
{
	json_t *root = root_json(&a->watcher), *list = json_array();

	for (size_t i = 0; i < a->count; i++)
		json_array_append_new(list, recording_json(&a->recordings[i]));
	json_object_set_new(root, "recordings", list);
	return json_write(f, root);
}

static json_t *numbers(const double *ns)
{
	json_t *json = json_object();

	for (int i = 0; i < NR_TIMED_BY; i++)
		json_object_set_new(json, timed_by_key(i),
				    json_real(ns[i] / 1e6));
	return json;
}

static json_t *row_json(const struct interval_errors *e,
			const struct error_row *row)
{
	json_t *samples = json_array();

	for (size_t i = 0; i < e->samples.count; i++) {
		const struct error_sample *s = &e->samples.list[i];

		if (s->load == row->load && s->expected_ns == row->expected_ns)
			json_array_append_new(samples, numbers(s->measured_ns));
	}
	return json_pack("{sI sf so so so}", "load", (json_int_t)row->load,
			 "expected_ms", row->expected_ns / 1e6,
			 "mean_error_ms", numbers(row->mean_ns),
			 "worst_error_ms", numbers(row->worst_ns),
			 "measured_ms", samples);
}

int errors_json(FILE *f, const struct interval_errors *e)
{
	json_t *root = root_json(&e->watcher), *list = json_array();

	for (size_t i = 0; i < e->nr_rows; i++)
		json_array_append_new(list, row_json(e, &e->rows[i]));
	json_object_set_new(root, "tick_ms", json_real(e->tick_ns / 1e6));
	json_object_set_new(root, "errors", list);
	return json_write(f, root);
}
