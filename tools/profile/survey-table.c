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

void survey_table(FILE *out, const struct survey *survey, size_t rows)
{
	fprintf(out, "\n%" PRIu64 " samples of %.6f s virtual, by charged time\n\n",
		survey->samples, survey->ns / 1e9);
	fprintf(out, "  %7s %7s %8s  %-20s %s\n", "in it", "itself", "samples",
		"object", "function");
	for (size_t i = 0; i < survey->count && i < rows; i++) {
		const struct survey_function *f = &survey->functions[i];

		fprintf(out, "  %6.2f%% %6.2f%% %8" PRIu64 "  %-20.20s %s%s%s%s\n",
			percent(f->inclusive_ns, survey->ns),
			percent(f->self_ns, survey->ns), f->inclusive_samples,
			object_name(f), f->name,
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

json_t *survey_json(const struct survey *survey)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < survey->count; i++) {
		json_t *json = function_json(&survey->functions[i]);

		/* A symbol can be any bytes, and a spec with these is no JSON. */
		if (json)
			json_array_append_new(functions, json);
	}
	return json_pack("{so so so so so so so so so so so so so so}",
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
		"functions", functions);
}
