/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers that tests of tense whatif with a fake program share. */
#ifndef TEST_WHATIF_H
#define TEST_WHATIF_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake-program.h"
#include "whatif/json.h"
#include "whatif/options.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static inline struct whatif ask(const char *func, const char *cuts)
{
	static char *command[] = { "fake", "a b", "<c>", NULL };
	struct whatif w = { .question = {
		.argv = command, .precision = 1, .max_runs = 20, .seed = 5,
		.percent = 100,
	} };

	if (func)
		free(whatif_parse_func(&w.question, func));
	if (cuts)
		free(whatif_parse_cuts(&w.question, cuts, false));
	return w;
}

static inline int measure(struct whatif *w, struct fake_program *p)
{
	const struct whatif_runner runner = {
		.run = fake_program_run, .progress = fake_program_progress,
		.arg = p,
	};

	whatif_plan(&w->question, &w->plan);
	return whatif_measure(w, &runner);
}

static inline const struct whatif_result *first(const struct whatif *w)
{
	return &w->answer.results[0];
}

/* Writes w as JSON, and reads that into back. Returns an error, which the caller frees, or NULL. */
static inline char *write_and_read(struct whatif *w, struct whatif *back)
{
	char *text = NULL, *error;
	size_t size;
	FILE *f;

	f = open_memstream(&text, &size);
	whatif_json_write(f, w);
	fclose(f);
	f = fmemopen(text, size, "r");
	error = whatif_json_read(f, back);
	fclose(f);
	free(text);
	return error;
}

static inline bool is_bad(char *error)
{
	bool bad = error;

	free(error);
	return bad;
}

#endif
