// SPDX-License-Identifier: GPL-2.0
#include "predict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json-text.h"
#include "base/result-file.h"
#include "measure/measure-output.h"
#include "base/util.h"
#include "report.h"
#include "service.h"
#include "store.h"

static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };

#define QUANTILES	(sizeof(quantiles) / sizeof(quantiles[0]))

struct prediction {
	const struct coefficients *c;
	const char *path;	/* NULL: by hand */
	unsigned int per_core;
	double length;
	struct dist levy;
	double divergence;	/* see service.h */
	double waits;
};

/* As in a report, the constant part of the noise counts as work. */
static void predict_service(struct prediction *p)
{
	double work = p->length + p->levy.location;

	p->divergence = service_divergence(work, p->levy.scale,
					   p->levy.bound - p->levy.location);
	p->waits = service_waits(work,
				 dist_mean(&p->levy) - p->levy.location,
				 dist_variance(&p->levy));
}

static void put_errors(FILE *f, const struct coefficients *c)
{
	if (isnan(c->laws[SCALE].error))
		return;
	if (c->form == FORM_LINEAR) {
		fprintf(f, "\n  at the fitted classes they are off by %.3g us (best case: the work plus the\n"
			"  location), %.3g us (scale) and %.3g us (range: from the location to the bound)\n",
			c->laws[BEST].error * 1e6, c->laws[SCALE].error * 1e6,
			c->laws[RANGE].error * 1e6);
		return;
	}
	fprintf(f, "\n  at the fitted classes they are off by factors of %.3g (best case: the work plus\n"
		"  the location), %.3g (scale) and %.3g (range: from the location to the bound)\n",
		exp(c->laws[BEST].error), exp(c->laws[SCALE].error),
		exp(c->laws[RANGE].error));
}

static int put_text(FILE *f, const struct prediction *p)
{
	const struct dist *d = &p->levy;
	struct scale time = scale_of(p->length);
	struct scale scale = scale_of(dist_quantile(d, 0.9) - d->location);

	fprintf(f, "\nwork of %.4g %s, %u %s per core, by the %s model of %s:\n"
		"the noise, by which it takes longer, is Levy distributed, in %s\n\n",
		p->length * time.factor, time.unit, p->per_core,
		p->per_core == 1 ? "process" : "processes",
		form_name(p->c->form), p->path ? p->path : "these coefficients",
		scale.unit);
	fprintf(f, "  location %.4g, scale %.4g, bound %.6g\n"
		"  mean %.4g, deviation %.4g\n", d->location * scale.factor,
		d->scale * scale.factor, d->bound * scale.factor,
		dist_mean(d) * scale.factor,
		sqrt(dist_variance(d)) * scale.factor);
	for (size_t i = 0; i < QUANTILES; i++)
		fprintf(f, "%s%.4g %% within %.4g", i ? ", " : "  ",
			quantiles[i] * 100,
			dist_quantile(d, quantiles[i]) * scale.factor);
	fputc('\n', f);
	if (!isnan(p->divergence))
		fprintf(f, "  exponential times of this mean with this noise are %.3g nats from exponential\n"
			"  times; mean waits at a server are %.3g times those of M/M/1\n",
			p->divergence, p->waits);
	put_errors(f, p->c);
	return ferror(f) ? -1 : 0;
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static int put_json(FILE *f, const struct prediction *p)
{
	const struct dist *d = &p->levy;
	json_t *list = json_array(), *root;

	for (size_t i = 0; i < QUANTILES; i++)
		json_array_append_new(list, json_pack(
			"{sf sf}", "p", quantiles[i], "noise_s",
			dist_quantile(d, quantiles[i])));
	root = json_pack("{si ss sI sf so ss sf sf sf sf sf so so so}",
			 "version", NOISE_JSON_VERSION, "tense", TENSE_VERSION,
			 "processes_per_core", (json_int_t)p->per_core,
			 "length_s", p->length,
			 "coefficients", p->path ?
				json_text(p->path, strlen(p->path)) :
				json_null(),
			 "model", form_name(p->c->form),
			 "location_s", d->location, "scale_s", d->scale,
			 "bound_s", d->bound, "mean_s", dist_mean(d),
			 "variance_s2", dist_variance(d), "quantiles", list,
			 "divergence_nats", number(p->divergence),
			 "waits_over_mm1", number(p->waits));
	return json_write(f, root);
}

static int put_file(const char *path, const struct prediction *p)
{
	struct result_file file = { 0 };
	int err = -1;

	if (!result_file_check(&file, path) && result_file_begin(&file))
		err = result_file_end(&file, put_json(file.file, p));
	result_file_free(&file);
	return err;
}

static int put(const struct noise_options *o, const struct prediction *p)
{
	const char *json = o->outputs[OUT_JSON];

	if (json && put_file(json, p))
		return -1;
	return result_file_is_stdout(json) ? 0 : put_text(stdout, p);
}

/*
 * A linear model may be the better one where it was fitted, and give no distribution
 * for another length.
 */
static void fall_back(const struct stored *stored, struct prediction *p)
{
	if (p->c->form == FORM_LOG ||
	    !coefficients_predict(p->c, p->per_core, p->length, &p->levy))
		return;
	warn("noise predict: the linear model gives no Levy distribution for this length and number: the log model is used");
	p->c = &stored->of[FORM_LOG];
}

static int predict(const struct noise_options *o, struct prediction *p)
{
	if (coefficients_predict(p->c, p->per_core, p->length, &p->levy)) {
		warn("noise predict: these coefficients give no Levy distribution of times: the best case is %.3g s, which must be above 0, the scale is %.3g s, and the range is %.3g s",
		     p->length + p->levy.location, p->levy.scale,
		     p->levy.bound - p->levy.location);
		return -1;
	}
	predict_service(p);
	return put(o, p);
}

/* Which of the file's models is asked for, or is the better one. */
static const struct coefficients *choose(const struct stored *stored, int form,
					 const char *path)
{
	if (form < 0)
		form = stored->better;
	if (stored->has[form])
		return &stored->of[form];
	warn("%s: has no %s model: write it anew with tense noise refit", path,
	     form_name(form));
	return NULL;
}

int noise_predict(const struct noise_options *o)
{
	struct prediction p = {
		.c = &o->hand, .per_core = o->per_core[0],
		.length = o->lengths[0],
	};
	struct stored stored;
	char *path = NULL;
	int err = 0;

	if (!o->by_hand) {
		path = o->coefficients ? xstrdup(o->coefficients) :
					 store_default_path();
		err = store_load(&stored, path);
		p.c = err ? NULL : choose(&stored, o->form, path);
	}
	p.path = path;
	if (p.c && !o->by_hand && o->form < 0)
		fall_back(&stored, &p);
	if (p.c)
		err = predict(o, &p);
	free(path);
	return p.c ? err : -1;
}
