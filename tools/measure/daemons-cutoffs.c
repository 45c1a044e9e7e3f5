// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json-text.h"
#include "base/options.h"
#include "base/util.h"
#include "cutoffs-input.h"
#include "cutoffs-output.h"
#include "daemons.h"

struct input {
	const char *central[2];		/* by enum task_length */
	const char *executions[2];
	struct periods periods;
	bool samples;
	bool json;
};

/* A name that is misspelt would silently have no effect. */
static void warn_of_periods(const struct periods *periods,
			    const struct cutoffs *cutoffs)
{
	for (size_t i = 0; i < periods->count; i++)
		if (!cutoffs_find(cutoffs, periods->list[i].daemon))
			warn("--periods: '%s' is no infrequent daemon in these files: its period is not used",
			     periods->list[i].daemon);
}

static void print_csv(const struct input *input, const struct cutoffs *cutoffs,
		      const struct runs *runs)
{
	if (!input->samples) {
		cutoffs_csv(stdout, cutoffs);
		return;
	}
	discarded_csv_header(stdout);
	discarded_csv(stdout, cutoffs, TASK_SHORT, &runs[TASK_SHORT]);
	discarded_csv(stdout, cutoffs, TASK_LONG, &runs[TASK_LONG]);
}

static int print_json(const struct input *input, const struct cutoffs *cutoffs,
		      const struct runs *runs)
{
	json_t *root = json_pack("{si so}", "version", CUTOFFS_JSON_VERSION,
				 "cutoffs", cutoffs_json(cutoffs));
	json_t *of_short, *of_long;

	if (input->samples) {
		of_short = discarded_json(cutoffs, TASK_SHORT,
					  &runs[TASK_SHORT]);
		of_long = discarded_json(cutoffs, TASK_LONG, &runs[TASK_LONG]);
		json_array_extend(of_short, of_long);
		json_object_set_new(root, "discarded", of_short);
		json_decref(of_long);
	}
	return json_print(root) ? STATUS_FAILED : 0;
}

static int read_runs(const struct input *input, struct runs *runs)
{
	for (int i = TASK_SHORT; i <= TASK_LONG; i++)
		if (input->central[i] &&
		    (runs_read_central(&runs[i], input->central[i]) ||
		     runs_read_executions(&runs[i], input->executions[i])))
			return -1;
	return 0;
}

static int compute(const struct input *input)
{
	struct runs runs[2] = { 0 };
	struct cutoffs cutoffs = { 0 };
	int err = read_runs(input, runs);

	if (!err) {
		cutoffs_compute(&cutoffs, &runs[TASK_SHORT], &runs[TASK_LONG],
				input->periods.list, input->periods.count);
		warn_of_periods(&input->periods, &cutoffs);
		if (!input->json)
			print_csv(input, &cutoffs, runs);
		else
			err = print_json(input, &cutoffs, runs);
	}
	cutoffs_free(&cutoffs);
	runs_free(&runs[TASK_SHORT]);
	runs_free(&runs[TASK_LONG]);
	return err ? STATUS_FAILED : 0;
}

/* 0, or -1 after a message. */
static int parse_options(const struct subcommand *command, int argc,
			 char **argv, struct input *input)
{
	int c;

	while ((c = options_take(command, argc, argv)) != -1) {
		switch (c) {
		case SHORT_CENTRAL:
			input->central[TASK_SHORT] = optarg;
			break;
		case SHORT_L:
			input->executions[TASK_SHORT] = optarg;
			break;
		case LONG_CENTRAL:
			input->central[TASK_LONG] = optarg;
			break;
		case LONG_L:
			input->executions[TASK_LONG] = optarg;
			break;
		case PERIODS:
			if (periods_parse(&input->periods, optarg))
				return -1;
			break;
		case DISCARDED:
			input->samples = true;
			break;
		case JSON:
			input->json = true;
			break;
		}
	}
	return options_refuse_operands(command, argc, argv);
}

/* 0, or -1 after a message. */
static int check_input(const struct input *input)
{
	if (!input->central[TASK_SHORT] || !input->executions[TASK_SHORT])
		warn("daemons cutoffs: needs --short-central FILE and --short-l FILE");
	else if (!input->central[TASK_LONG] != !input->executions[TASK_LONG])
		warn("daemons cutoffs: needs both of --long-central FILE and --long-l FILE, or none");
	else
		return 0;
	return -1;
}

int daemons_cutoffs(const struct subcommand *command, int argc, char **argv)
{
	struct input input = { 0 };
	int status = STATUS_FAILED;

	if (!parse_options(command, argc, argv, &input) && !check_input(&input))
		status = compute(&input);
	periods_free(&input.periods);
	return status;
}
