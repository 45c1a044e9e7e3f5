// SPDX-License-Identifier: GPL-2.0
/* The functions of a survey, for people and for programs. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "survey.h"
#include "base/json-text.h"
#include "base/paths.h"
#include "base/util.h"

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* The object as in the table: without directories. */
static const char *object_name(const struct survey_function *f)
{
	return *f->object ? base_name(f->object) : "-";
}

static const char *name_of(const struct survey *survey, uint32_t index)
{
	return index == SURVEY_NOWHERE ? "?" : survey->functions[index].name;
}

static void print_waker(FILE *out, const struct survey *survey,
			const struct survey_block *b)
{
	if (b->by == SURVEY_BY_TIMER)
		fputs("a timer", out);
	else if (b->by == SURVEY_BY_OUTSIDE)
		fputs("something outside of the program", out);
	else if (b->waker == SURVEY_NOWHERE)
		fprintf(out, "%s", *b->waker_thread ? b->waker_thread :
				   "a thread that has ended");
	else
		fprintf(out, "%s of %s", name_of(survey, b->waker), b->waker_thread);
}

static void blocks_table(FILE *out, const struct survey *survey, size_t rows)
{
	if (!survey->nr_blocks)
		return;
	fprintf(out, "\nThreads were blocked for %.6f s virtual in all\n\n",
		survey->blocked_ns / 1e9);
	fprintf(out, "  %7s  %-15s %-7s %s\n", "of that", "thread", "for",
		"waits in; woken by");
	for (size_t i = 0; i < survey->nr_blocks && i < rows; i++) {
		const struct survey_block *b = &survey->blocks[i];

		fprintf(out, "  %6.2f%%  %-15s %-7s %s%s%s; ",
			percent(b->ns, survey->blocked_ns), b->thread,
			survey_reason_id(b->reason), name_of(survey, b->function),
			b->callee == SURVEY_NOWHERE ? "" : ", in ",
			b->callee == SURVEY_NOWHERE ? "" : name_of(survey, b->callee));
		print_waker(out, survey, b);
		fputc('\n', out);
	}
	if (survey->nr_blocks > rows)
		fprintf(out, "  and %zu more, see --json\n", survey->nr_blocks - rows);
}

void survey_table(FILE *out, const struct survey *survey, const struct machine *machine,
		  size_t rows)
{
	char *on = machine_text(machine);

	fprintf(out, "\n%" PRIu64 " samples of %.6f s virtual, by charged time, on %s\n\n",
		survey->samples, survey->ns / 1e9, on);
	free(on);
	fprintf(out, "  %7s %7s %8s  %-20s %s\n", "in it", "itself", "samples",
		"object", "function");
	for (size_t i = 0; i < survey->count && i < rows; i++) {
		const struct survey_function *f = &survey->functions[i];
		char object[21];

		snprintf(object, sizeof(object), "%s", object_name(f));
		mask_controls(object);
		fprintf(out, "  %6.2f%% %6.2f%% %8" PRIu64 "  %-20s %s%s%s%s\n",
			percent(f->inclusive_ns, survey->ns),
			percent(f->self_ns, survey->ns), f->inclusive_samples,
			object, f->name,
			f->obstacle ? "  (" : "",
			f->obstacle ? survey_obstacle_id(f->obstacle) : "",
			f->obstacle ? ")" : "");
	}
	if (survey->count > rows)
		fprintf(out, "  and %zu more, see --json\n", survey->count - rows);
	fprintf(out, "\n  %.2f %% of the time is in known functions, %.2f %% in those with a name, %.2f %% in these or in what they call\n",
		percent(survey->attributed_ns, survey->ns),
		percent(survey->named_ns, survey->ns),
		percent(survey->covered_ns, survey->ns));
	blocks_table(out, survey, rows);
	if (survey->missing_ns)
		warn("the table of waits lacks %.6f s of virtual time: samples of blocks found no room, or the kernel does not sample these programs",
		     survey->missing_ns / 1e9);
	if (survey->lost)
		warn("%" PRIu64 " samples found no room: use a longer --survey-period",
		     survey->lost);
	if (survey->hidden)
		warn("the table lacks %.6f s of virtual time: the kernel does not sample programs with more rights than their user, programs that the user may not read, and programs that forbid dumps",
		     survey->hidden_ns / 1e9);
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *function_json(const struct survey_function *f)
{
	return json_pack("{so so ss? so so so so sb ss?}",
		"name", json_text(f->name, strlen(f->name)),
		"object", json_text(f->object, strlen(f->object)),
		"spec", f->spec,
		"self_ns", integer(f->self_ns),
		"inclusive_ns", integer(f->inclusive_ns),
		"self_samples", integer(f->samples),
		"inclusive_samples", integer(f->inclusive_samples),
		"scalable", f->obstacle == SURVEY_SCALABLE,
		"obstacle", f->obstacle == SURVEY_SCALABLE ? NULL :
			    survey_obstacle_id(f->obstacle));
}

static json_t *name_json(const struct survey *survey, uint32_t index)
{
	const char *name = name_of(survey, index);

	return index == SURVEY_NOWHERE ? json_null() : json_text(name, strlen(name));
}

static json_t *thread_json(const char *thread)
{
	return *thread ? json_text(thread, strlen(thread)) : json_null();
}

json_t *survey_blocks_json(const struct survey *survey)
{
	json_t *blocks = json_array();

	for (size_t i = 0; i < survey->nr_blocks; i++) {
		const struct survey_block *b = &survey->blocks[i];

		json_array_append_new(blocks, json_pack(
			"{so so so ss ss so so so so}",
			"thread", thread_json(b->thread),
			"function", name_json(survey, b->function),
			"callee", name_json(survey, b->callee),
			"reason", survey_reason_id(b->reason),
			"woken_by", survey_waker_id(b->by),
			"waker_thread", thread_json(b->waker_thread),
			"waker_function", name_json(survey, b->waker),
			"ns", integer(b->ns),
			"samples", integer(b->samples)));
	}
	return blocks;
}

json_t *survey_json(const struct survey *survey)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < survey->count; i++) {
		json_t *json = function_json(&survey->functions[i]);

		/* A symbol can be any bytes, and a spec with these is no JSON. */
		if (json)
			json_array_append_new(functions, json);
	}
	return json_pack("{so so so so so so so so so so so so so so so so so}",
		"period_ns", integer(survey->period_ns),
		"samples", integer(survey->samples),
		"sampled_ns", integer(survey->ns),
		"attributed_ns", integer(survey->attributed_ns),
		"named_ns", integer(survey->named_ns),
		"covered_ns", integer(survey->covered_ns),
		"lost_samples", integer(survey->lost),
		"lost_ns", integer(survey->lost_ns),
		"hidden_samples", integer(survey->hidden),
		"hidden_ns", integer(survey->hidden_ns),
		"overhead_ns", integer(survey->overhead_ns),
		"elapsed_virtual_ns", integer(survey->elapsed_ns),
		"charged_virtual_ns", integer(survey->charged_ns),
		"functions", functions,
		"blocked_ns", integer(survey->blocked_ns),
		"blocked_missing_ns", integer(survey->missing_ns),
		"blocks", survey_blocks_json(survey));
}
