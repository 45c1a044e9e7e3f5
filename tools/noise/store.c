// SPDX-License-Identifier: GPL-2.0
#include "store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json-text.h"
#include "base/result-file.h"
#include "base/user-data.h"
#include "base/util.h"

#define STORE_VERSION	1

char *store_default_path(void)
{
	return machine_data_path("noise");
}

/* null is NAN: the value is unknown. */
static double number_of(const json_t *json)
{
	return json_is_number(json) ? json_number_value(json) : NAN;
}

static int load_law(struct law *law, const json_t *json)
{
	const json_t *of = json_object_get(json, "coefficients");

	if (json_array_size(of) != TERMS)
		return -1;
	for (int i = 0; i < TERMS; i++) {
		law->of[i] = number_of(json_array_get(of, i));
		if (!isfinite(law->of[i]))
			return -1;
	}
	law->r2 = number_of(json_object_get(json, "r2"));
	law->error = number_of(json_object_get(json, "error"));
	return 0;
}

static int load(struct coefficients *c, const json_t *root)
{
	if (json_integer_value(json_object_get(root, "version")) !=
	    STORE_VERSION)
		return -1;
	c->form = FORM_LOG;
	for (int i = 0; i < NR_PARAMETERS; i++)
		if (load_law(&c->laws[i],
			     json_object_get(root, parameter_name(i))))
			return -1;
	return 0;
}

int store_load(struct coefficients *c, const char *path)
{
	FILE *f = fopen(path, "re");
	json_error_t error;
	json_t *root;
	int err = -1;

	if (!f) {
		warn("%s: %s: tense noise refit writes the coefficients of this machine",
		     path, strerror(errno));
		return -1;
	}
	root = json_loadf(f, 0, &error);
	fclose(f);
	if (!root) {
		warn("%s:%d: %s", path, error.line, error.text);
		return -1;
	}
	err = load(c, root);
	if (err)
		warn("%s: is not a file of coefficients that this version of tense knows: write it with tense noise refit",
		     path);
	json_decref(root);
	return err;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *law_json(const struct law *law)
{
	return json_pack("{s[fff] so so}", "coefficients", law->of[0],
			 law->of[1], law->of[2], "r2", number(law->r2),
			 "error", number(law->error));
}

static json_t *cell_json(const struct cell *cell)
{
	return json_pack("{sI sf sf sf sf ss}", "processes_per_core",
			 (json_int_t)cell->per_core, "length_s", cell->length,
			 "location_s", cell->levy.location,
			 "scale_s", cell->levy.scale,
			 "bound_s", cell->levy.bound,
			 "closest", family_name(cell->closest));
}

int store_try_save(const char *path)
{
	struct result_file file;
	int err;

	/* If this fails, result_file_check() reports why. */
	make_parents(path);
	err = result_file_check(&file, path);
	result_file_free(&file);
	return err;
}

int store_save(const struct coefficients *c, const struct cell *cells,
	       size_t count, const char *path)
{
	json_t *root = json_pack("{si ss}", "version", STORE_VERSION, "tense",
				 TENSE_VERSION);
	json_t *list = json_array();
	struct utsname machine;
	struct result_file file = { 0 };
	int err = -1;

	uname(&machine);
	json_object_set_new(root, "machine",
			    json_text(machine.nodename,
				      strlen(machine.nodename)));
	for (int i = 0; i < NR_PARAMETERS; i++)
		json_object_set_new(root, parameter_name(i),
				    law_json(&c->laws[i]));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, cell_json(&cells[i]));
	json_object_set_new(root, "cells", list);
	/* If this fails, result_file_check() reports why. */
	make_parents(path);
	if (!result_file_check(&file, path) && result_file_begin(&file))
		err = result_file_end(&file, json_write(file.file, root));
	else
		json_decref(root);
	result_file_free(&file);
	return err;
}
