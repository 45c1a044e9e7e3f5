// SPDX-License-Identifier: GPL-2.0
#include "cutoffs-input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "csv.h"
#include "base/duration.h"

static int add_central(struct runs *runs, const struct csv *csv, char **values)
{
	struct central c;

	for (size_t i = 0; i < runs->nr_central; i++) {
		if (!strcmp(runs->central[i].daemon, values[0])) {
			csv_complain(csv, "'%s' is there twice: a daemon has one line",
				     values[0]);
			return -1;
		}
	}
	if (csv_number(csv, values[1], &c.max) ||
	    csv_number(csv, values[2], &c.stddev))
		return -1;
	c.daemon = xstrdup(values[0]);
	runs->central = xrealloc(runs->central, (runs->nr_central + 1) *
						sizeof(*runs->central));
	runs->central[runs->nr_central++] = c;
	return 0;
}

static int add_execution(struct runs *runs, const struct csv *csv,
			 char **values)
{
	struct execution e;

	if (csv_whole(csv, values[0], &e.sample) ||
	    csv_number(csv, values[2], &e.ms))
		return -1;
	e.daemon = xstrdup(values[1]);
	runs->executions = xrealloc(runs->executions,
				    (runs->nr_executions + 1) *
				    sizeof(*runs->executions));
	runs->executions[runs->nr_executions++] = e;
	return 0;
}

static int read_table(struct runs *runs, const char *path,
		      const char *const *names, size_t nr_names,
		      int (*add)(struct runs *runs, const struct csv *csv,
				 char **values))
{
	char *values[CSV_MAX_COLUMNS];
	struct csv csv;
	int more;

	if (csv_open(&csv, path, names, nr_names))
		return -1;
	while ((more = csv_next(&csv, values)) > 0) {
		more = add(runs, &csv, values);
		if (more)
			break;
	}
	csv_close(&csv);
	return more;
}

int runs_read_central(struct runs *runs, const char *path)
{
	static const char *const names[] = { "daemon", "max_process_time_ms",
					     "stddev_ms" };

	return read_table(runs, path, names, 3, add_central);
}

int runs_read_executions(struct runs *runs, const char *path)
{
	static const char *const names[] = { "sample", "daemon",
					     "process_time_ms" };

	return read_table(runs, path, names, 3, add_execution);
}

void runs_free(struct runs *runs)
{
	for (size_t i = 0; i < runs->nr_central; i++)
		free(runs->central[i].daemon);
	for (size_t i = 0; i < runs->nr_executions; i++)
		free(runs->executions[i].daemon);
	free(runs->central);
	free(runs->executions);
}

static int parse_period(struct periods *periods, char *text)
{
	char *equals = strrchr(text, '=');
	double seconds;

	if (!equals || equals == text ||
	    parse_duration(equals + 1, &seconds) || seconds <= 0) {
		warn("--periods: '%s' is not a daemon and its period: write it as in rhnsd=4h",
		     text);
		return -1;
	}
	*equals = '\0';
	for (size_t i = 0; i < periods->count; i++) {
		if (!strcmp(periods->list[i].daemon, text)) {
			warn("--periods: '%s' has two periods", text);
			return -1;
		}
	}
	periods->list = xrealloc(periods->list, (periods->count + 1) *
						sizeof(*periods->list));
	periods->list[periods->count++] = (struct period){
		.daemon = xstrdup(text), .seconds = seconds,
	};
	return 0;
}

int periods_parse(struct periods *periods, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *item;
	int err = 0;

	/* tense daemons learn writes an empty line if it knows no period. */
	while (!err && *text && (item = strsep(&rest, ",")))
		err = parse_period(periods, item);
	free(copy);
	return err;
}

void periods_free(struct periods *periods)
{
	for (size_t i = 0; i < periods->count; i++)
		free(periods->list[i].daemon);
	free(periods->list);
}
