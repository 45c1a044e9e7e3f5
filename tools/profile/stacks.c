// SPDX-License-Identifier: GPL-2.0
/* The stacks of a survey, for programs that draw flame graphs. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "survey.h"
#include "base/json-text.h"

/* Semicolons separate frames, and the last blank separates the number. */
static void write_name(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, f);
}

void survey_write_folded(FILE *f, const struct survey *survey)
{
	for (size_t i = 0; i < survey->nr_stacks; i++) {
		const struct survey_stack *stack = &survey->stacks[i];

		write_name(f, stack->thread);
		if (!stack->whole)
			fputs(";[unknown]", f);
		for (uint32_t d = stack->depth; d--;) {
			fputc(';', f);
			write_name(f, survey->functions[stack->frames[d]].name);
		}
		fprintf(f, " %" PRIu64 "\n", stack->ns);
	}
}

static json_t *text(const char *bytes)
{
	return json_text(bytes, strlen(bytes));
}

static json_t *frames_json(const struct survey *survey)
{
	json_t *frames = json_array();

	for (size_t i = 0; i < survey->count; i++)
		json_array_append_new(frames, json_pack("{so so}",
			"name", text(survey->functions[i].name),
			"file", text(survey->functions[i].object)));
	return frames;
}

/* The stacks of the threads with this name: one profile. */
static json_t *profile_json(const struct survey *survey, const char *thread)
{
	json_t *samples = json_array(), *weights = json_array();
	uint64_t ns = 0;

	for (size_t i = 0; i < survey->nr_stacks; i++) {
		const struct survey_stack *stack = &survey->stacks[i];
		json_t *frames;

		if (strcmp(stack->thread, thread) != 0)
			continue;
		frames = json_array();
		for (uint32_t d = stack->depth; d--;)
			json_array_append_new(frames,
				json_integer(stack->frames[d]));
		json_array_append_new(samples, frames);
		json_array_append_new(weights, json_integer(stack->ns));
		ns += stack->ns;
	}
	return json_pack("{ss so ss si sI so so}",
			 "type", "sampled", "name", text(thread),
			 "unit", "nanoseconds", "startValue", 0,
			 "endValue", (json_int_t)ns, "samples", samples,
			 "weights", weights);
}

static bool is_first_of_thread(const struct survey *survey, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(survey->stacks[j].thread, survey->stacks[i].thread))
			return false;
	return true;
}

int survey_write_speedscope(FILE *f, const struct survey *survey, const char *name)
{
	json_t *profiles = json_array();

	for (size_t i = 0; i < survey->nr_stacks; i++)
		if (is_first_of_thread(survey, i))
			json_array_append_new(profiles, profile_json(survey,
				survey->stacks[i].thread));
	return json_write(f, json_pack("{ss so ss s{so} so}",
		"$schema", "https://www.speedscope.app/file-format-schema.json",
		"name", text(name), "exporter", "tense profile",
		"shared", "frames", frames_json(survey),
		"profiles", profiles));
}
