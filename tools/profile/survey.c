// SPDX-License-Identifier: GPL-2.0
#include "survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static const struct {
	const char *id, *text;
} obstacles[] = {
	[SURVEY_SCALABLE] = { "none", "whatif can scale it" },
	[SURVEY_NO_SYMBOL] = { "no-symbol",
		"no symbol covers it: if its file is stripped, install the debug symbols" },
	[SURVEY_NO_FILE] = { "no-file", "its code is in no file" },
	[SURVEY_TENSE] = { "tense", "it is a part of Tense" },
	[SURVEY_START] = { "start",
		"it is the beginning of the program or of a thread" },
	[SURVEY_CHOSEN] = { "chosen",
		"the program chooses one of several functions at its start" },
	[SURVEY_EXEC] = { "exec", "the kernel loads the program" },
};

const char *survey_reason_id(enum survey_reason reason)
{
	static const char *const ids[] = {
		[SURVEY_LOCK] = "lock", [SURVEY_SLEEP] = "sleep",
		[SURVEY_CHILD] = "child", [SURVEY_INPUT] = "input",
		[SURVEY_OUTPUT] = "output", [SURVEY_EVENT] = "event",
		[SURVEY_PAGE] = "page", [SURVEY_OTHER] = "other",
	};

	return ids[reason];
}

const char *survey_waker_id(enum survey_waker by)
{
	static const char *const ids[] = {
		[SURVEY_BY_THREAD] = "thread", [SURVEY_BY_TIMER] = "timer",
		[SURVEY_BY_OUTSIDE] = "outside",
	};

	return ids[by];
}

const char *survey_obstacle_id(enum survey_obstacle obstacle)
{
	return obstacles[obstacle].id;
}

const char *survey_obstacle_text(enum survey_obstacle obstacle)
{
	return obstacles[obstacle].text;
}

void survey_free(struct survey *survey)
{
	for (size_t i = 0; i < survey->count; i++) {
		free(survey->functions[i].name);
		free(survey->functions[i].object);
		free(survey->functions[i].spec);
	}
	for (size_t i = 0; i < survey->nr_stacks; i++)
		free(survey->stacks[i].frames);
	free(survey->functions);
	free(survey->stacks);
	free(survey->blocks);
	memset(survey, 0, sizeof(*survey));
}
