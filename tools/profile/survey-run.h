/* SPDX-License-Identifier: GPL-2.0 */
/* The run of a profile that samples where the command spends its time. */
#ifndef TOOLS_PROFILE_SURVEY_RUN_H
#define TOOLS_PROFILE_SURVEY_RUN_H

#include "profile.h"
#include "survey.h"

struct backend;
struct run;

struct profile_survey_ask {
	uint64_t period_ns;	/* 0: the default */
	const char *output;	/* file for the command's output; NULL: as it is */
	bool own_input;		/* the command reads tense's standard input */
	bool limited;		/* the run ends after --for, or fails after --time */
};

struct profile_survey {
	struct survey survey;
	bool taken;		/* else it has explained why not */
	int status;		/* of the command, or tense's own */
	char **argv;		/* the command */
	const char *backend;
	struct machine machine;
};

/* Runs the question's command once. The caller has completed @run but for argv. */
void profile_survey_run(struct profile_survey *s, const struct profile_survey_ask *ask,
			const struct profile *p, const struct backend *backend,
			const struct run *run);
void profile_survey_free(struct profile_survey *s);

/* Writes the survey. Returns 0, or -1 with errno. */
int profile_survey_json(FILE *f, const struct profile_survey *s);

#endif
