// SPDX-License-Identifier: GPL-2.0
/* Runs a command for its survey. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "samples.h"
#include "survey.h"
#include "run/backend.h"
#include "run/trace-file.h"
#include "base/util.h"

/*
 * Samples of 1 KiB each last for 16 s of charged time at a period of 1 ms. From there
 * on the kernel doubles the period again and again.
 */
#define SAMPLES_KIB	(16 * 1024)

/* Callers further out than this are not found: frames of most programs fit. */
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

/* Lets a stream lead to @to, unless that is 0. Returns a copy of it, -1 if closed. */
static int divert(int stream, int to)
{
	int kept = fcntl(stream, F_DUPFD_CLOEXEC, 3);

	if (to > 0 && kept >= 0 && dup2(to, stream) < 0)
		die(STATUS_FAILED, "the standard streams: %s", strerror(errno));
	return kept;
}

/* A guest takes the standard streams: gets one back. */
static void bring_back(int stream, int kept)
{
	if (kept < 0)
		return;
	dup2(kept, stream);
	close(kept);
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
	input = divert(STDIN_FILENO, ask->input);
	output = divert(STDOUT_FILENO, ask->output);
	backend->run(run, out, &counters);
	bring_back(STDOUT_FILENO, output);
	bring_back(STDIN_FILENO, input);
	/* A guest that ended before its command has sent nothing. */
	if (out->kind <= OUTCOME_SIGNALED && counters)
		error = read_samples(survey, &file);
	survey->period_ns = period;
	stats = counters;
	if (stats) {
		survey->elapsed_ns = stats->gvt;
		survey->charged_ns = stats->charged;
	}
	run->trace = NULL;
	run->samples = (struct samples_ask){ 0 };
	trace_file_close(&file);
	free(counters);
	return error;
}
