// SPDX-License-Identifier: GPL-2.0
#include "cutoffs-store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json-text.h"
#include "base/user-data.h"
#include "base/result-file.h"
#include "base/util.h"
#include "csv.h"
#include "cutoffs-output.h"

/* 0, or -1 if the daemon is there already. */
static int add(struct cutoff_store *store, const char *daemon, double limit,
	       double of_short, double of_long)
{
	struct cutoffs *c = &store->cutoffs;

	if (cutoffs_find(c, daemon))
		return -1;
	c->list = xrealloc(c->list, (c->count + 1) * sizeof(*c->list));
	c->list[c->count++] = (struct cutoff){
		.daemon = xstrdup(daemon), .limit_s = limit,
		.of_short = NAN, .of_long = NAN,
		.final_short = of_short, .final_long = of_long,
	};
	return 0;
}

/* 0, or -1 after a message. */
static int member(const char *path, const json_t *cutoff, const char *name,
		  double *value)
{
	const json_t *json = json_object_get(cutoff, name);

	*value = json_is_number(json) ? json_number_value(json) : NAN;
	if (json_is_null(json) || *value >= 0)
		return 0;
	warn("%s: '%s' of a cutoff is not a number that is 0 or more, nor null",
	     path, name);
	return -1;
}

static int load_cutoff(struct cutoff_store *store, const json_t *cutoff)
{
	const char *daemon = json_string_value(json_object_get(cutoff,
							       "daemon"));
	double limit, of_short, of_long;

	if (!daemon) {
		warn("%s: a cutoff is without its daemon", store->path);
		return -1;
	}
	if (member(store->path, cutoff, "task_time_limit_s", &limit) ||
	    member(store->path, cutoff, "final_short_ms", &of_short) ||
	    member(store->path, cutoff, "final_long_ms", &of_long))
		return -1;
	if (!add(store, daemon, limit, of_short, of_long))
		return 0;
	warn("%s: '%s' is there twice: a daemon has one cutoff", store->path,
	     daemon);
	return -1;
}

static int load_json(struct cutoff_store *store, FILE *f)
{
	json_error_t error;
	json_t *root = json_loadf(f, 0, &error);
	const json_t *list = json_object_get(root, "cutoffs");
	int err = -1;

	if (!root) {
		warn("%s:%d: %s", store->path, error.line, error.text);
	} else if (json_integer_value(json_object_get(root, "version")) !=
		   CUTOFFS_JSON_VERSION || !json_is_array(list)) {
		warn("%s: is not a file of cutoffs that this version of tense knows: write it with tense daemons cutoffs --json",
		     store->path);
	} else {
		err = 0;
		for (size_t i = 0; i < json_array_size(list) && !err; i++)
			err = load_cutoff(store, json_array_get(list, i));
	}
	json_decref(root);
	fclose(f);
	return err;
}

/* Empty is none. */
static int csv_optional(const struct csv *csv, const char *text, double *value)
{
	*value = NAN;
	return *text ? csv_number(csv, text, value) : 0;
}

static int load_csv(struct cutoff_store *store, FILE *f)
{
	static const char *const names[] = { "daemon", "task_time_limit_s",
					     "final_short_ms",
					     "final_long_ms" };
	char *values[CSV_MAX_COLUMNS];
	double numbers[3];
	struct csv csv;
	int more;

	if (csv_begin(&csv, f, store->path, names, 4))
		return -1;
	while ((more = csv_next(&csv, values)) > 0) {
		for (int i = 0; i < 3 && more > 0; i++)
			if (csv_optional(&csv, values[i + 1], &numbers[i]))
				more = -1;
		if (more < 0)
			break;
		if (!add(store, values[0], numbers[0], numbers[1], numbers[2]))
			continue;
		csv_complain(&csv, "'%s' is there twice: a daemon has one cutoff",
			     values[0]);
		more = -1;
		break;
	}
	csv_close(&csv);
	return more;
}

/* Skips space. -1 with errno if the file cannot be read. */
static int begins_as_json(FILE *f)
{
	int c;

	do
		c = fgetc(f);
	while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
	ungetc(c, f);
	return ferror(f) ? -1 : c == '{' || c == '[';
}

/* Closes the file. 0, or -1 after a message. */
static int load(struct cutoff_store *store, FILE *f)
{
	int json = begins_as_json(f);

	if (json >= 0)
		return json ? load_json(store, f) : load_csv(store, f);
	warn("%s: %s", store->path, strerror(errno));
	fclose(f);
	return -1;
}

int cutoffs_load(struct cutoff_store *store, const char *path)
{
	FILE *f = fopen(path, "re");

	*store = (struct cutoff_store){ 0 };
	if (!f) {
		warn("%s: %s", path, strerror(errno));
		return -1;
	}
	store->path = xstrdup(path);
	if (!load(store, f))
		return 0;
	cutoffs_unload(store);
	return -1;
}

char *cutoffs_machine_path(void)
{
	return machine_data_path("cutoffs");
}

int cutoffs_load_default(struct cutoff_store *store)
{
	char *paths[] = { cutoffs_machine_path(), user_data_path("cutoffs.json") };
	int err = 0;

	*store = (struct cutoff_store){ 0 };
	for (int i = 0; i < 2; i++) {
		if (!store->path && !err && !access(paths[i], F_OK))
			err = cutoffs_load(store, paths[i]);
		free(paths[i]);
	}
	return err;
}

/* If make_parents() fails, result_file_check() reports why. */
static int prepare(struct result_file *file, const char *path)
{
	make_parents(path);
	return result_file_check(file, path);
}

int cutoffs_save(json_t *root, const char *path)
{
	struct result_file file;
	int err = -1;

	if (!prepare(&file, path) && result_file_begin(&file))
		err = result_file_end(&file, json_write(file.file,
							json_incref(root)));
	result_file_free(&file);
	return err;
}

int cutoffs_try_save(const char *path)
{
	struct result_file file;
	int err = prepare(&file, path);

	result_file_free(&file);
	return err;
}

void cutoffs_unload(struct cutoff_store *store)
{
	for (size_t i = 0; i < store->cutoffs.count; i++)
		free((char *)store->cutoffs.list[i].daemon);
	cutoffs_free(&store->cutoffs);
	free(store->path);
	*store = (struct cutoff_store){ 0 };
}

double cutoff_for(const struct cutoff_store *store, const char *daemon,
		  double seconds)
{
	const struct cutoff *c = cutoffs_find(&store->cutoffs, daemon);

	if (!c)
		return NAN;
	return cutoff_final(c, c->limit_s <= seconds ? TASK_LONG : TASK_SHORT);
}
