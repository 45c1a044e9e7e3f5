// SPDX-License-Identifier: GPL-2.0
#include "cutoffs-output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "csv.h"

static void put_value(FILE *f, double value)
{
	fputc(',', f);
	if (!isnan(value))
		fprintf(f, "%.15g", value);
}

void cutoffs_csv(FILE *f, const struct cutoffs *cutoffs)
{
	fputs("daemon,cutoff_short_ms,cutoff_long_ms,task_time_limit_s,final_short_ms,final_long_ms\n",
	      f);
	for (size_t i = 0; i < cutoffs->count; i++) {
		const struct cutoff *c = &cutoffs->list[i];

		csv_put(f, c->daemon);
		put_value(f, c->of_short);
		put_value(f, c->of_long);
		put_value(f, c->limit_s);
		put_value(f, c->final_short);
		put_value(f, c->final_long);
		fputc('\n', f);
	}
}

static const char *length_name(enum task_length length)
{
	return length == TASK_SHORT ? "short" : "long";
}

void discarded_csv_header(FILE *f)
{
	fputs("task,sample,daemon,process_time_ms,cutoff_ms\n", f);
}

void discarded_csv(FILE *f, const struct cutoffs *cutoffs,
		   enum task_length length, const struct runs *runs)
{
	struct discarded *list;
	size_t count = cutoffs_discard(cutoffs, length, runs, &list);

	for (size_t i = 0; i < count; i++) {
		const struct execution *e = list[i].worst;

		fprintf(f, "%s,%llu,", length_name(length),
			(unsigned long long)list[i].sample);
		csv_put(f, e->daemon);
		put_value(f, e->ms);
		put_value(f, cutoff_final(cutoffs_find(cutoffs, e->daemon),
					  length));
		fputc('\n', f);
	}
	free(list);
}

static json_t *text(const char *bytes)
{
	return json_text(bytes, strlen(bytes));
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

json_t *cutoffs_json(const struct cutoffs *cutoffs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cutoffs->count; i++) {
		const struct cutoff *c = &cutoffs->list[i];

		json_array_append_new(list, json_pack(
			"{so so so so so so}",
			"daemon", text(c->daemon),
			"cutoff_short_ms", number(c->of_short),
			"cutoff_long_ms", number(c->of_long),
			"task_time_limit_s", number(c->limit_s),
			"final_short_ms", number(c->final_short),
			"final_long_ms", number(c->final_long)));
	}
	return list;
}

json_t *discarded_json(const struct cutoffs *cutoffs, enum task_length length,
		       const struct runs *runs)
{
	json_t *samples = json_array();
	struct discarded *list;
	size_t count = cutoffs_discard(cutoffs, length, runs, &list);

	for (size_t i = 0; i < count; i++) {
		const struct execution *e = list[i].worst;
		const struct cutoff *c = cutoffs_find(cutoffs, e->daemon);

		json_array_append_new(samples, json_pack(
			"{ss sI so so so sI}",
			"task", length_name(length),
			"sample", (json_int_t)list[i].sample,
			"daemon", text(e->daemon),
			"process_time_ms", number(e->ms),
			"cutoff_ms", number(cutoff_final(c, length)),
			"executions_over", (json_int_t)list[i].executions));
	}
	free(list);
	return samples;
}
