// SPDX-License-Identifier: GPL-2.0
/* The file of --json, read back. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <linux/tense.h>

#include "base/util.h"
#include "latency.h"
#include "json-parts.h"
#include "json.h"

/* More than any experiment has; the file may be anything. */
#define CONDITIONS_MAX	2000

/* Decodes hexadecimals. Returns NULL if they are wrong or hold a zero byte. */
static char *from_hex(const char *hex)
{
	size_t len = hex ? strlen(hex) / 2 : 0;
	char *text = hex ? xmalloc(len + 1) : NULL;

	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1 || !byte) {
			free(text);
			return NULL;
		}
		text[i] = byte;
	}
	return text;
}

/* In a request, a text that is not UTF-8 is {"hex": ...}. */
char *whatif_json_copy(const json_t *value)
{
	const char *text = json_string_value(value);

	return text ? xstrdup(text) :
	       from_hex(json_string_value(json_object_get(value, "hex")));
}

static double real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static uint64_t integer(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value < 0 ? 0 : value;
}

/* In thousandths; 0 for none. */
static unsigned int percent(const json_t *object, const char *key)
{
	double value = real(object, key);

	return value >= TENSE_PERCENT_MIN && value <= TENSE_PERCENT_MAX ?
	       lround(value * TENSE_FINE) : 0;
}

static bool flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static bool load_command(const json_t *list, struct whatif_question *q)
{
	size_t n = json_array_size(list);

	q->argv = xmalloc((n + 1) * sizeof(*q->argv));
	q->own_argv = true;
	for (size_t i = 0; i < n; i++) {
		q->argv[i] = whatif_json_copy(json_array_get(list, i));
		if (!q->argv[i])
			return false;
	}
	return n > 0;
}

static bool load_latency_names(struct whatif_metric *metric)
{
	char *error;

	if (!metric->pattern)
		return false;
	error = whatif_latency_parse(metric->pattern, &metric->from,
				     &metric->to);
	free(error);
	return !error;
}

static bool load_metric(const json_t *from, struct whatif_metric *metric)
{
	const char *kind = json_string_value(json_object_get(from, "kind"));

	metric->pattern = whatif_json_copy(json_object_get(from, "pattern"));
	for (int k = METRIC_ELAPSED; kind && k <= METRIC_LATENCY; k++) {
		if (strcmp(kind, whatif_metric_name(k)) != 0)
			continue;
		metric->kind = k;
		if (k == METRIC_LATENCY)
			return load_latency_names(metric);
		return k < METRIC_STDOUT || metric->pattern;
	}
	return false;
}

static bool load_functions(const json_t *list, struct whatif_question *q)
{
	size_t n = json_array_size(list);

	if (!n || n > WHATIF_FUNCS_MAX || q->funcs)
		return false;
	for (size_t i = 0; i < n; i++) {
		const json_t *from = json_array_get(list, i);
		struct whatif_func *to = &q->func[q->funcs];

		to->percent = percent(from, "percent");
		to->name = whatif_json_copy(json_object_get(from, "name"));
		if (!to->name)
			return false;
		q->funcs++;
	}
	return true;
}

void whatif_json_load_environment(const json_t *from, struct whatif_environment *e)
{
	const json_t *load = json_object_get(from, "load");

	e->tense = whatif_json_copy(json_object_get(from, "tense"));
	e->backend = whatif_json_copy(json_object_get(from, "backend"));
	e->kernel = whatif_json_copy(json_object_get(from, "kernel"));
	e->host = whatif_json_copy(json_object_get(from, "host"));
	e->cpu = whatif_json_copy(json_object_get(from, "cpu"));
	e->date = whatif_json_copy(json_object_get(from, "date"));
	e->cpus = integer(from, "cpus");
	for (int i = 0; i < 3; i++)
		e->load[i] = json_is_array(load) ?
			     json_number_value(json_array_get(load, i)) : NAN;
}

/* Returns the index of a name. Older files have no name: 0 is the default. */
static int choice(const json_t *from, const char *key,
		  const char *const *names)
{
	const char *name = json_string_value(json_object_get(from, key));
	int index = clock_name_find(name, names);

	return index < 0 ? 0 : index;
}

static void load_asked(const json_t *from, struct whatif_question *q)
{
	const json_t *cuts = json_object_get(from, "cuts");

	q->nr_cuts = json_array_size(cuts);
	q->cuts = xmalloc((q->nr_cuts + 1) * sizeof(*q->cuts));
	for (size_t i = 0; i < q->nr_cuts; i++)
		q->cuts[i] = json_number_value(json_array_get(cuts, i));
	q->prepare = whatif_json_copy(json_object_get(from, "prepare"));
	q->input = whatif_json_copy(json_object_get(from, "input"));
	q->precision = real(from, "precision");
	q->max_runs = integer(from, "max_runs");
	q->seed = integer(from, "seed");
	q->each = flag(from, "each");
	q->ignore_failure = flag(from, "ignore_failure");
	q->percent = integer(from, "percent");
	q->choice.clocks = choice(from, "clock", clock_names);
	q->choice.order = choice(from, "order", order_names);
	q->choice.idle = choice(from, "idle", idle_names);
	q->window_ns = integer(from, "window_ns");
	if (!q->percent)
		q->percent = TENSE_PERCENT_REAL;
}

static bool load_condition(const json_t *from, struct whatif_condition *to,
			   size_t index)
{
	const json_t *percents = json_object_get(from, "percent");

	*to = (struct whatif_condition){
		.name = whatif_json_copy(json_object_get(from, "name")),
		.kind = index < CONDITIONS_FIRST ? index : CONDITION_VARIANT,
		.cut = real(from, "cut"),
	};
	for (unsigned int i = 1; i < WHATIF_SLOTS; i++) {
		char slot[4];

		snprintf(slot, sizeof(slot), "%u", i);
		to->percent[i] = percent(percents, slot);
	}
	return to->name;
}

static bool load_conditions(const json_t *list, struct whatif_plan *plan)
{
	size_t n = json_array_size(list);

	if (n <= CONDITIONS_FIRST || n > CONDITIONS_MAX)
		return false;
	plan->conditions = xmalloc(n * sizeof(*plan->conditions));
	for (size_t i = 0; i < n; i++) {
		struct whatif_condition *to = &plan->conditions[i];

		plan->nr_conditions++;
		if (!load_condition(json_array_get(list, i), to, i))
			return false;
	}
	return true;
}

static void load_slots(const json_t *list, struct whatif_sample *to)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *from = json_array_get(list, i);
		uint64_t slot = integer(from, "slot");

		if (slot >= WHATIF_SLOTS)
			continue;
		to->slot[slot] = (struct whatif_slot){
			.calls = integer(from, "calls"),
			.ran = integer(from, "real_ns"),
			.charged = integer(from, "virtual_ns"),
		};
	}
}

static void load_latency(const json_t *from, struct whatif_latency *to)
{
	*to = (struct whatif_latency){
		.from = integer(from, "from"),
		.to = integer(from, "to"),
		.pairs = integer(from, "pairs"),
		.lost = integer(from, "lost"),
		.median = real(from, "median_ns"),
	};
}

void whatif_json_load_sample(const json_t *from, struct whatif_sample *to)
{
	*to = (struct whatif_sample){
		.round = integer(from, "round"),
		.order = integer(from, "order"),
		.condition = integer(from, "condition"),
		.began = integer(from, "began_unix_ns"),
		.ended = integer(from, "ended_unix_ns"),
		.metric = real(from, "metric"),
		.elapsed = integer(from, "elapsed_virtual_ns"),
		.real = integer(from, "elapsed_real_ns"),
		.charged = integer(from, "cpu_virtual_ns"),
		.ran = integer(from, "cpu_real_ns"),
		.gated = integer(from, "gated_ns"),
		.overhead = integer(from, "overhead_ns"),
		.reference = integer(from, "reference_ns"),
		.threads = integer(from, "threads"),
		.status = integer(from, "status"),
		.pair_ns = real(from, "pair_ns"),
		.start = integer(from, "instruments_start_ns"),
	};
	load_slots(json_object_get(from, "slots"), to);
	load_latency(json_object_get(from, "latency"), &to->latency);
}

static bool load_sample(const json_t *from, size_t index, size_t conditions,
			struct whatif_sample *to)
{
	whatif_json_load_sample(from, to);
	return to->round == index / conditions &&
	       to->condition == index % conditions && to->elapsed &&
	       (to->round == 0 || (to->metric > 0 && isfinite(to->metric)));
}

static bool load_samples(const json_t *list, size_t per_round,
			 struct whatif_samples *samples)
{
	size_t n = json_array_size(list);

	/* The discarded round, and two to tell a variation from. */
	if (n % per_round || n < 3 * per_round)
		return false;
	samples->list = xmalloc(n * sizeof(*samples->list));
	samples->count = n;
	samples->per_round = per_round;
	for (size_t i = 0; i < n; i++)
		if (!load_sample(json_array_get(list, i), i,
				 per_round, &samples->list[i]))
			return false;
	return true;
}

/* Older files have none. */
static void load_spoiled(const json_t *list, struct whatif_samples *samples)
{
	size_t n = json_array_size(list);

	samples->spoiled = xmalloc(n * sizeof(*samples->spoiled));
	samples->nr_spoiled = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *from = json_array_get(list, i);
		char *daemon = whatif_json_copy(json_object_get(from, "daemon"));

		samples->spoiled[i] = (struct whatif_spoiled){
			.round = integer(from, "round"),
			.ms = real(from, "process_time_ms"),
			.cutoff = real(from, "cutoff_ms"),
			.dropped = flag(from, "dropped"),
		};
		snprintf(samples->spoiled[i].daemon,
			 sizeof(samples->spoiled[i].daemon),
			 "%s", daemon ? daemon : "unknown");
		free(daemon);
	}
}

bool whatif_json_load_patches(const json_t *list,
			      struct whatif_samples *samples)
{
	size_t n = json_array_size(list);

	samples->patches = xmalloc(n * sizeof(*samples->patches));
	for (size_t i = 0; i < n; i++) {
		const json_t *from = json_array_get(list, i);
		struct whatif_patch *to = &samples->patches[i];
		bool patched = flag(from, "patched");

		samples->nr_patches++;
		*to = (struct whatif_patch){
			.slot = integer(from, "slot"), .patched = patched,
			.object = whatif_json_copy(json_object_get(from, "object")),
			.symbol = whatif_json_copy(json_object_get(from, "symbol")),
			.offset = integer(from, "offset"),
			.how = whatif_json_copy(json_object_get(from, patched ?
						    "mechanism" : "reason")),
			.processes = integer(from, "processes"),
		};
		if (to->slot >= WHATIF_NAMES || !to->object || !to->symbol ||
		    !to->how)
			return false;
	}
	return true;
}

const char *whatif_json_load_question(const json_t *root,
				      struct whatif_question *q)
{
	load_asked(json_object_get(root, "asked"), q);
	q->deterministic = flag(root, "deterministic");
	if (!(q->precision > 0))
		return "asked";
	if (!load_command(json_object_get(root, "command"), q))
		return "command";
	if (!load_metric(json_object_get(root, "metric"), &q->metric))
		return "metric";
	if (whatif_is_printed(q))
		q->better = flag(json_object_get(root, "metric"), "less_is_better") ?
			    BETTER_LESS : BETTER_MORE;
	return NULL;
}

/* Loads question and plan. Returns the name of the first wrong part, or NULL. */
static const char *load_question(const json_t *root, struct whatif *w)
{
	const char *wrong = whatif_json_load_question(root, &w->question);

	if (wrong)
		return wrong;
	if (!load_functions(json_object_get(root, "functions"), &w->question))
		return "functions";
	if (!load_conditions(json_object_get(root, "conditions"), &w->plan))
		return "conditions";
	return NULL;
}

/* Loads an answer. Returns the name of its first wrong part, or NULL. */
static const char *load(const json_t *root, struct whatif *w)
{
	const char *wrong = load_question(root, w);

	if (wrong)
		return wrong;
	whatif_json_load_environment(json_object_get(root, "environment"),
			 &w->samples.environment);
	if (!load_samples(json_object_get(root, "samples"),
			  w->plan.nr_conditions, &w->samples))
		return "samples";
	load_spoiled(json_object_get(root, "spoiled_rounds"), &w->samples);
	if (!whatif_json_load_patches(json_object_get(root, "patches"), &w->samples))
		return "patches";
	return NULL;
}

static bool load_names(const json_t *list, struct whatif_found *found)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *from = json_array_get(list, i);
		uint64_t name = integer(from, "name");

		if (name >= WHATIF_NAMES || found->specs[name])
			return false;
		found->specs[name] = whatif_json_copy(json_object_get(from, "functions"));
		if (!found->specs[name])
			return false;
	}
	return true;
}

static bool load_probes(const json_t *list, struct whatif_found *found)
{
	size_t n = json_array_size(list);

	found->probes = xmalloc(n * sizeof(*found->probes));
	for (size_t i = 0; i < n; i++) {
		const json_t *from = json_array_get(list, i);
		struct whatif_probe *to = &found->probes[found->nr_probes++];

		*to = (struct whatif_probe){
			.slot = integer(from, "slot"),
			.object = whatif_json_copy(json_object_get(from, "object")),
			.symbol = whatif_json_copy(json_object_get(from, "symbol")),
			.offset = integer(from, "offset"),
		};
		if (!to->slot || to->slot >= WHATIF_SLOTS || !to->object ||
		    !to->symbol)
			return false;
	}
	return true;
}

bool whatif_json_load_found(const json_t *from, struct whatif_found *found)
{
	return json_is_object(from) &&
	       load_names(json_object_get(from, "names"), found) &&
	       load_probes(json_object_get(from, "probes"), found);
}

/* Loads a request. Returns the name of its first wrong part, or NULL. */
static const char *load_request(const json_t *root, struct whatif *w)
{
	const char *wrong = load_question(root, w);

	if (wrong)
		return wrong;
	w->question.runs = integer(root, "runs");
	w->question.show_output = flag(root, "show_output");
	w->question.quiet = flag(root, "quiet");
	if (!whatif_json_load_found(json_object_get(root, "found"), &w->found))
		return "found";
	return NULL;
}

char *whatif_json_parse(FILE *f, json_t **root)
{
	json_error_t error;

	*root = json_loadf(f, 0, &error);
	if (!*root && ferror(f))
		return xprintf("%s", strerror(errno));
	if (!*root)
		return xprintf("not a complete JSON file (line %d: %s): write it again with --json",
			       error.line, error.text);
	return NULL;
}

bool whatif_json_has_schema(const json_t *root, const char *schema)
{
	const char *found = json_string_value(json_object_get(root, "schema"));

	return found && !strcmp(found, schema);
}

char *whatif_json_check(const json_t *root, const char *command, const char *schema,
			uint64_t newest)
{
	uint64_t version = integer(root, "version");

	if (!whatif_json_has_schema(root, schema))
		return xprintf("not a file of tense %s --json", command);
	if (version < 1 || version > newest)
		return xprintf("of another version of tense");
	return NULL;
}

char *whatif_json_open(FILE *f, const char *command, const char *schema,
		       uint64_t newest, json_t **root)
{
	char *error = whatif_json_parse(f, root);

	return error ? error : whatif_json_check(*root, command, schema, newest);
}

char *whatif_json_wrong(const char *command, const char *part)
{
	return part ? xprintf("\"%s\" is not what tense %s --json writes", part,
			      command) : NULL;
}

/*
 * In version 1 the conclusions have sentences instead of identifiers, but no
 * reader loads conclusions. Its "asked" has no options of tense run.
 */
static char *read_as(FILE *f, struct whatif *w,
		     const char *(*load_all)(const json_t *root,
					     struct whatif *w))
{
	json_t *root;
	char *error = whatif_json_open(f, "whatif", WHATIF_SCHEMA,
				       WHATIF_JSON_VERSION, &root);

	if (!error)
		error = whatif_json_wrong("whatif", load_all(root, w));
	json_decref(root);
	return error;
}

char *whatif_json_load_answer(const json_t *root, struct whatif *w)
{
	char *error = whatif_json_check(root, "whatif", WHATIF_SCHEMA,
					WHATIF_JSON_VERSION);

	return error ? error : whatif_json_wrong("whatif", load(root, w));
}

char *whatif_json_read(FILE *f, struct whatif *w)
{
	return read_as(f, w, load);
}

char *whatif_request_read(FILE *f, struct whatif *w)
{
	return read_as(f, w, load_request);
}

void whatif_json_load(struct whatif *w, const char *path)
{
	FILE *f = fopen(path, "re");
	char *error;

	if (!f)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	error = whatif_json_read(f, w);
	if (error)
		die(STATUS_FAILED, "%s: %s", path, error);
	fclose(f);
}
