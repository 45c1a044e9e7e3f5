// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json-text.h"
#include "base/util.h"
#include "json-parts.h"
#include "sweep-output.h"

int sweep_json_write(FILE *f, const struct sweep *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(list, json_pack("{si so}",
			"cpus", (int)s->cpus.list[i],
			"answer", whatif_json(&s->answers[i])));
	return json_write(f, json_pack("{ss si so}", "schema", SWEEP_SCHEMA,
				       "version", SWEEP_JSON_VERSION,
				       "sweep", list));
}

/* Loads one of the answers. Returns NULL, or an error. */
static char *load_answer(const json_t *root, struct sweep *s)
{
	struct whatif *w = &s->answers[s->count];
	char *error;

	*w = (struct whatif){ 0 };
	s->count++;
	error = whatif_json_load_answer(root, w);
	if (!error)
		whatif_conclude(w);
	return error;
}

static char *load_sweep(const json_t *root, struct sweep *s)
{
	const json_t *list = json_object_get(root, "sweep");
	char *error = whatif_json_check(root, "whatif", SWEEP_SCHEMA,
					SWEEP_JSON_VERSION);
	size_t n = json_array_size(list);

	if (!error && (!n || n > SWEEP_CPUS_MAX))
		error = whatif_json_wrong("whatif", "sweep");
	for (size_t i = 0; i < n && !error; i++) {
		const json_t *entry = json_array_get(list, i);
		json_int_t cpus = json_integer_value(json_object_get(entry, "cpus"));

		if (cpus < 1 || cpus > 1 << 20 ||
		    (i && cpus <= s->cpus.list[i - 1]))
			return whatif_json_wrong("whatif", "cpus");
		s->cpus.list[s->cpus.count++] = cpus;
		error = load_answer(json_object_get(entry, "answer"), s);
	}
	return error ? error : sweep_check(s);
}

char *sweep_json_read(FILE *f, struct sweep *s)
{
	json_t *root;
	char *error = whatif_json_parse(f, &root);

	s->cpus.count = 0;
	s->count = 0;
	if (!error)
		error = whatif_json_has_schema(root, SWEEP_SCHEMA) ?
			load_sweep(root, s) : load_answer(root, s);
	json_decref(root);
	return error;
}

void sweep_json_load(struct sweep *s, const char *path)
{
	FILE *f = fopen(path, "re");
	char *error;

	if (!f)
		die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	error = sweep_json_read(f, s);
	if (error)
		die(STATUS_FAILED, "%s: %s", path, error);
	fclose(f);
}
