// SPDX-License-Identifier: GPL-2.0
#include "store.h"

#include <errno.h>
#include <gsl/gsl_statistics_double.h>
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

static int load_laws(struct coefficients *c, enum form form, const json_t *root)
{
	c->form = form;
	for (int i = 0; i < NR_PARAMETERS; i++)
		if (load_law(&c->laws[i],
			     json_object_get(root, parameter_name(i))))
			return -1;
	return 0;
}

/* The laws of the form log are where they were when there was no other. */
static int load(struct stored *s, const json_t *root)
{
	const json_t *linear = json_object_get(root, form_name(FORM_LINEAR));
	const char *better = json_string_value(json_object_get(root, "better"));

	*s = (struct stored){ .has[FORM_LOG] = true, .has[FORM_LINEAR] = linear };
	if (json_integer_value(json_object_get(root, "version")) !=
	    STORE_VERSION)
		return -1;
	if (load_laws(&s->of[FORM_LOG], FORM_LOG, root) ||
	    (linear && load_laws(&s->of[FORM_LINEAR], FORM_LINEAR, linear)))
		return -1;
	if (linear && better && !strcmp(better, form_name(FORM_LINEAR)))
		s->better = FORM_LINEAR;
	return 0;
}

int store_load(struct stored *s, const char *path)
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
	err = load(s, root);
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

static json_t *laws_json(json_t *to, const struct coefficients *c)
{
	for (int i = 0; i < NR_PARAMETERS; i++)
		json_object_set_new(to, parameter_name(i),
				    law_json(&c->laws[i]));
	return to;
}

static json_t *evaluation_json(const struct evaluation *e)
{
	return json_pack("{so so sI sI}", "mean_r2", number(e->mean_r2),
			 "variance_r2", number(e->variance_r2),
			 "classes", (json_int_t)e->classes,
			 "impossible", (json_int_t)e->impossible);
}

static json_t *distances_json(const struct report *r)
{
	json_t *all = json_object();

	for (int i = 0; i < NR_FAMILIES; i++)
		json_object_set_new(all, family_name(i), json_pack("{so so}",
			"anderson_darling", r->fits[i].converged ?
				number(r->fits[i].anderson_darling) :
				json_null(),
			"p_value", number(r->p_values[i])));
	return all;
}

static json_t *switches_json(const struct report *r)
{
	json_t *all = json_object();

	for (int i = 0; i < NR_SWITCHES; i++)
		json_object_set_new(all, switches_name(i), json_pack("{so so so}",
			"per_time", number(gsl_stats_mean(r->switches[i], 1,
							  r->count)),
			"pearson", number(r->correlations[i].linear),
			"spearman", number(r->correlations[i].rank)));
	return all;
}

static json_t *cell_json(const struct cell *cell, const struct report *r)
{
	json_t *json = json_pack("{sI sf sf sf sf ss}", "processes_per_core",
			 (json_int_t)cell->per_core, "length_s", cell->length,
			 "location_s", cell->levy.location,
			 "scale_s", cell->levy.scale,
			 "bound_s", cell->levy.bound,
			 "closest", family_name(cell->closest));
	json_t *summary = json_pack("{sI so so so so so so}",
		"times", (json_int_t)r->count,
		"mean_s", number(gsl_stats_mean(r->values, 1, r->count)),
		"variance_s2", number(gsl_stats_variance(r->values, 1,
							 r->count)),
		"distances", distances_json(r), "switches", switches_json(r),
		"divergence_nats", number(r->divergence),
		"waits_over_mm1", number(r->waits));

	json_object_update(json, summary);
	json_decref(summary);
	return json;
}

static json_t *stored_json(const struct stored *s)
{
	json_t *root = json_pack("{si ss}", "version", STORE_VERSION, "tense",
				 TENSE_VERSION);
	json_t *evaluations = json_object();

	laws_json(root, &s->of[FORM_LOG]);
	json_object_set_new(root, form_name(FORM_LINEAR),
			    laws_json(json_object(), &s->of[FORM_LINEAR]));
	json_object_set_new(root, "better", json_string(form_name(s->better)));
	for (int i = 0; i < NR_FORMS; i++)
		json_object_set_new(evaluations, form_name(i),
				    evaluation_json(&s->evaluations[i]));
	json_object_set_new(root, "evaluation", evaluations);
	return root;
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

int store_save(const struct stored *s, const struct cell *cells,
	       const struct report *reports, size_t count, const char *path)
{
	json_t *root = stored_json(s), *list = json_array();
	struct utsname machine;
	struct result_file file = { 0 };
	int err = -1;

	uname(&machine);
	json_object_set_new(root, "machine",
			    json_text(machine.nodename,
				      strlen(machine.nodename)));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, cell_json(&cells[i], &reports[i]));
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
