// SPDX-License-Identifier: GPL-2.0
#include "log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((noreturn)) void fail(const char *what, const char *detail)
{
	fprintf(stderr, "bench: %s: %s\n", what, detail);
	exit(1);
}

static void add_run(struct log *log, const char *line)
{
	struct log_run run = { 0 };
	char rest;

	if (sscanf(line, "run %31s %d %c", run.variant, &run.round, &rest) != 2)
		fail("not the beginning of a run", line);
	log->run = reallocarray(log->run, log->runs + 1, sizeof(run));
	if (!log->run)
		fail("no memory", line);
	log->run[log->runs++] = run;
}

static void add_pair(struct log *log, const char *line)
{
	struct log_run *run = log->run + log->runs - 1;
	char rest;

	if (!log->runs)
		fail("a value before the first run", line);
	if (run->pairs == sizeof(run->pair) / sizeof(run->pair[0]))
		fail("too many values in a run", line);
	if (sscanf(line, "%31s %lf %c", run->pair[run->pairs].key,
		   &run->pair[run->pairs].value, &rest) != 2)
		fail("not a value", line);
	run->pairs++;
}

void log_read(struct log *log, FILE *file)
{
	char line[256];

	*log = (struct log) { 0 };
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "run ", 4))
			add_run(log, line);
		else
			add_pair(log, line);
	}
	if (!log->runs)
		fail("no runs", "the input is empty");
}

void log_free(struct log *log)
{
	free(log->run);
}

int log_rounds(const struct log *log)
{
	int rounds = 0;

	for (size_t i = 0; i < log->runs; i++)
		if (log->run[i].round >= rounds)
			rounds = log->run[i].round + 1;
	return rounds;
}

double log_find(const struct log *log, const char *variant, int round,
		const char *key)
{
	for (size_t i = 0; i < log->runs; i++) {
		const struct log_run *run = &log->run[i];

		if (run->round != round || strcmp(run->variant, variant) != 0)
			continue;
		for (size_t j = 0; j < run->pairs; j++)
			if (!strcmp(run->pair[j].key, key))
				return run->pair[j].value;
	}
	return NAN;
}

double log_get(const struct log *log, const char *variant, int round,
	       const char *key)
{
	double value = log_find(log, variant, round, key);
	char detail[128];

	if (!isnan(value))
		return value;
	snprintf(detail, sizeof(detail), "%s of %s in round %d", key, variant,
		 round);
	fail("not in the input", detail);
}
