// SPDX-License-Identifier: GPL-2.0
#include "times.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "measure/csv.h"
#include "base/util.h"

struct list {
	struct times times;
	size_t room;
};

static void make_room(struct list *list)
{
	struct times *t = &list->times;

	if (t->count < list->room)
		return;
	list->room = 2 * list->room + 64;
	t->seconds = xrealloc(t->seconds, list->room * sizeof(*t->seconds));
	for (int i = 0; i < NR_SWITCHES; i++)
		if (t->switches[i])
			t->switches[i] = xrealloc(t->switches[i], list->room *
						  sizeof(*t->switches[i]));
}

static void add(struct list *list, double value)
{
	make_room(list);
	list->times.seconds[list->times.count++] = value;
}

/* A time that is over 0. strtod() reads more than decimal numbers. */
static int parse(const char *text, double *value)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return -1;
	*value = strtod(text, &end);
	return !*end && isfinite(*value) && *value > 0 ? 0 : -1;
}

static int read_column(const char *path, const char *column, struct list *list)
{
	char *values[CSV_MAX_COLUMNS];
	struct csv csv;
	double value;
	int more;

	if (csv_open(&csv, path, &column, 1))
		return -1;
	while ((more = csv_next(&csv, values)) > 0) {
		if (parse(values[0], &value)) {
			csv_complain(&csv, "'%s' is not a time in seconds", values[0]);
			more = -1;
			break;
		}
		add(list, value);
	}
	csv_close(&csv);
	return more;
}

static int read_row(const struct csv *csv, char **values, struct list *list)
{
	uint64_t number;
	double value;

	if (parse(values[0], &value)) {
		csv_complain(csv, "'%s' is not a time in seconds", values[0]);
		return -1;
	}
	make_room(list);
	for (int i = 0; i < NR_SWITCHES; i++) {
		if (csv_whole(csv, values[i + 1], &number))
			return -1;
		list->times.switches[i][list->times.count] = (double)number;
	}
	add(list, value);
	return 0;
}

/* A table that fit --csv wrote: times, and switches of each. */
static int read_table(const char *path, struct list *list)
{
	static const char *const columns[] = {
		TIMES_COLUMN, VOLUNTARY_COLUMN, INVOLUNTARY_COLUMN,
	};
	char *values[CSV_MAX_COLUMNS];
	struct csv csv;
	int more;

	if (csv_open(&csv, path, columns, 1 + NR_SWITCHES))
		return -1;
	for (int i = 0; i < NR_SWITCHES; i++)
		list->times.switches[i] = xmalloc(sizeof(double));
	while ((more = csv_next(&csv, values)) > 0)
		if (read_row(&csv, values, list)) {
			more = -1;
			break;
		}
	csv_close(&csv);
	return more;
}

/* Only a table with exactly this first line needs no --column. */
static bool is_table(const char *path)
{
	static const char head[] = TIMES_COLUMN "," VOLUNTARY_COLUMN ","
				   INVOLUNTARY_COLUMN;
	char text[sizeof(head) + 2] = "";
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\r\n")] = '\0';
	return !strcmp(text, head);
}

static int read_line(const char *path, unsigned int number, char *line,
		     struct list *list)
{
	double value;

	line[strcspn(line, "\r\n")] = '\0';
	if (!*line || (number == 1 && !strcmp(line, TIMES_COLUMN)))
		return 0;
	if (parse(line, &value)) {
		warn("%s:%u: '%.40s' is not a time in seconds: if the first line names columns, say which one with --column",
		     path, number, line);
		return -1;
	}
	add(list, value);
	return 0;
}

static int read_lines(const char *path, struct list *list)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!f) {
		warn("%s: %s", path, strerror(errno));
		return -1;
	}
	errno = 0;
	for (unsigned int i = 1; !err && getline(&line, &size, f) >= 0; i++)
		err = read_line(path, i, line, list);
	if (!err && ferror(f)) {
		warn("%s: %s", path, strerror(errno));
		err = -1;
	}
	free(line);
	fclose(f);
	return err;
}

static int read_samples(const char *path, const char *member,
			const json_t *commands, struct list *list)
{
	const json_t *samples = json_object_get(json_array_get(commands, 0),
						"samples");

	if (json_array_size(commands) != 1 || !json_is_array(samples)) {
		warn("%s: is not of one command: write it with tense measure --json",
		     path);
		return -1;
	}
	for (size_t i = 0; i < json_array_size(samples); i++) {
		const json_t *time = json_object_get(json_array_get(samples, i),
						     member);

		if (!(json_number_value(time) > 0)) {
			warn("%s: sample %zu has no time '%s'", path, i + 1,
			     member);
			return -1;
		}
		add(list, json_number_value(time));
	}
	return 0;
}

static int read_json(const char *path, const char *member, struct list *list)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	int err = -1;

	if (root)
		err = read_samples(path, member,
				   json_object_get(root, "commands"), list);
	else if (error.line > 0)
		warn("%s:%d: %s", path, error.line, error.text);
	else
		warn("%s", error.text);
	json_decref(root);
	return err;
}

int times_read(const char *path, const char *column, struct times *times)
{
	struct list list = { 0 };
	size_t len = strlen(path);
	int err;

	if (len > 5 && !strcmp(path + len - 5, ".json"))
		err = read_json(path, column ? column : "elapsed_s", &list);
	else if (column)
		err = read_column(path, column, &list);
	else if (is_table(path))
		err = read_table(path, &list);
	else
		err = read_lines(path, &list);
	if (err)
		times_free(&list.times);
	*times = list.times;
	return err;
}

void times_free(struct times *times)
{
	free(times->seconds);
	for (int i = 0; i < NR_SWITCHES; i++)
		free(times->switches[i]);
	*times = (struct times){ 0 };
}
