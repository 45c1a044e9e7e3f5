// SPDX-License-Identifier: GPL-2.0
/* Runs a command for its survey. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "samples.h"
#include "survey.h"
#include "run/backend.h"
#include "run/trace-file.h"
#include "base/stream.h"
#include "base/util.h"

/*
 * Samples of 1 KiB each last for 16 s of charged time at a period of 1 ms. From there
 * on the kernel doubles the period again and again.
 */
#define SAMPLES_KIB	(16 * 1024)

/* Bytes of the stack in which callers are found. Frames of most programs fit. */
#define STACK_BYTES	8192

static char *read_samples(struct survey *survey, const struct trace_file *file)
{
	struct samples samples;
	const void *data;
	size_t size;
	char *error;

	errno = file->error;
	data = file->error ? NULL : trace_file_map(file, &size);
	if (!data)
		return xprintf("the samples: %s", strerror(errno));
	error = samples_read(&samples, data, size);
	if (!error)
		survey_fill(survey, &samples);
	samples_free(&samples);
	return error;
}

char *survey_take(struct survey *survey, const struct survey_ask *ask,
		  const struct backend *backend, struct run *run,
		  struct outcome *out)
{
	uint64_t period = ask->period_ns ? ask->period_ns : SURVEY_PERIOD_NS;
	const struct tense_stats *stats;
	struct trace_file file;
	char *error = NULL;
	void *counters;
	int input, output;

	memset(survey, 0, sizeof(*survey));
	trace_file_open(&file, 0);
	run->trace = &file;
	run->stats = true;
	run->samples = (struct samples_ask){
		.period_ns = period, .kib = SAMPLES_KIB, .stack = STACK_BYTES,
		.seed = ask->seed,
	};
	fflush(stdout);
	input = stream_divert(STDIN_FILENO, ask->input);
	output = stream_divert(STDOUT_FILENO, ask->output);
	backend->run(run, out, &counters);
	if (ask->ended)
		ask->ended(ask->ended_arg);
	stream_bring_back(STDOUT_FILENO, output);
	stream_bring_back(STDIN_FILENO, input);
	/* A guest that ended before its command has sent nothing. */
	if (out->kind <= OUTCOME_SIGNALED && counters)
		error = read_samples(survey, &file);
	survey->period_ns = period;
	stats = counters;
	if (stats) {
		survey->elapsed_ns = stats->gvt;
		survey->charged_ns = stats->charged;
	}
	trace_file_close(&file);
	free(counters);
	return error;
}
