// SPDX-License-Identifier: GPL-2.0
#include "refit.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/result-file.h"
#include "base/util.h"
#include "classes.h"
#include "evaluate.h"
#include "report.h"
#include "store.h"

#define CELLS	(PER_CORE_MAX * LENGTHS_MAX)

struct grid {
	const struct noise_options *o;
	struct nops nops;
	struct cell cells[CELLS];
	struct report reports[CELLS];	/* of each cell */
	size_t count;
	/* One half of each cell's times is fitted, the other one predicted. */
	struct cell training[CELLS];
	struct held_out held_out[CELLS];
	size_t halved;
	struct progress progress;
	double done;		/* seconds of work, of one core */
	double total;
};

static double seconds_of(const struct noise_options *o, double length)
{
	return length * (double)o->samples;
}

static void show(size_t taken, void *arg)
{
	struct grid *g = arg;
	double length = g->cells[g->count].length;

	progress_show(&g->progress,
		      (unsigned int)(1000 * (g->done + length * (double)taken) /
				     g->total),
		      1000, "measuring");
}

/* The warning goes to stderr: it is not part of the result. */
static void tell_unfit(const struct cell *cell, const char *why)
{
	warn("noise refit: %u processes per core, %g s: %s: left out",
	     cell->per_core, cell->length, why);
}

/* The cell of a fit, or false if there is none. */
static bool make_cell(struct cell *cell, const struct report *r)
{
	if (!r->fits[LEVY].converged)
		return false;
	cell->length = r->nominal;
	cell->levy = r->fits[LEVY].dist;
	cell->closest = r->closest->dist.family;
	return true;
}

/* Every other time, so that both halves are from all of the measurement. */
static double *half_of(const struct collection *c, size_t first, size_t *count)
{
	double *half = xmalloc((c->count / 2 + 1) * sizeof(*half));

	*count = 0;
	for (size_t i = first; i < c->count; i += 2)
		half[(*count)++] = c->noise[i];
	return half;
}

static void halve_cell(struct grid *g, const struct collection *c,
		       const struct cell *cell)
{
	struct report r = { .nominal = c->nominal };
	struct cell *training = &g->training[g->halved];
	struct held_out *held_out = &g->held_out[g->halved];
	double *rest;
	size_t count;

	if (c->count / 2 < FIT_TIMES_MIN)
		return;
	r.values = half_of(c, 0, &r.count);
	rest = half_of(c, 1, &count);
	*training = *cell;
	*held_out = (struct held_out){
		.per_core = cell->per_core, .length = c->nominal,
		.mean = gsl_stats_mean(rest, 1, count),
		.variance = gsl_stats_variance(rest, 1, count),
	};
	if (!report_fit(&r, NAN) && make_cell(training, &r))
		g->halved++;
	free(rest);
	report_free(&r);
}

/* Takes the times from the collection. */
static void fit_cell(struct grid *g, struct collection *c)
{
	struct cell *cell = &g->cells[g->count];
	struct report *r = &g->reports[g->count];

	halve_cell(g, c, cell);
	*r = (struct report){ .values = c->noise, .count = c->count,
			      .nominal = c->nominal,
			      .replicates = g->o->replicates };
	for (int i = 0; i < NR_SWITCHES; i++)
		r->switches[i] = c->switches[i];
	*c = (struct collection){ 0 };
	if (report_assess(r, NAN))
		tell_unfit(cell, "cannot be fitted");
	else if (!make_cell(cell, r))
		tell_unfit(cell, "no maximum of the likelihood was found");
	else
		g->count++;
	if (!g->count || r != &g->reports[g->count - 1])
		report_free(r);
}

static int take_cell(struct grid *g, unsigned int per_core, double length)
{
	const struct workload w = { .length = length, .per_core = per_core,
				    .samples = g->o->samples };
	struct collection c;
	int err;

	g->cells[g->count] = (struct cell){ .per_core = per_core,
					    .length = length };
	err = collect(&w, &g->nops, g->o->quiet ? NULL : show, g, &c);
	if (!err)
		fit_cell(g, &c);
	g->done += seconds_of(g->o, length);
	collection_free(&c);
	return err;
}

static int take_grid(struct grid *g)
{
	const struct noise_options *o = g->o;
	int err = nops_calibrate(&g->nops);

	for (size_t i = 0; i < o->nr_lengths; i++)
		g->total += seconds_of(o, o->lengths[i]) *
			    (double)o->nr_per_core;
	for (size_t i = 0; i < o->nr_per_core && !err; i++)
		for (size_t j = 0; j < o->nr_lengths && !err; j++)
			err = take_cell(g, o->per_core[i], o->lengths[j]);
	progress_end(&g->progress);
	return err;
}

static void put_laws(const struct coefficients *c)
{
	bool logs = c->form == FORM_LOG;

	printf("\n%-10s%14s%14s%14s%8s  %s\n", form_name(c->form), "A", "B",
	       "C", "R^2", "off by");
	for (int i = 0; i < NR_PARAMETERS; i++) {
		const struct law *law = &c->laws[i];

		printf("%-10s%14.5g%14.5g%14.5g%8.2f", parameter_name(i),
		       law->of[0], law->of[1], law->of[2], law->r2);
		if (logs)
			printf("  a factor of %.3g\n", exp(law->error));
		else
			printf("  %.3g us\n", law->error * 1e6);
	}
}

static void put_r2(double r2)
{
	if (isnan(r2))
		printf("%12s", "-");
	else
		printf("%12.2f", r2);
}

static void put_evaluation(const struct stored *s)
{
	if (!s->evaluations[FORM_LOG].classes) {
		printf("\nhalf of the samples are too few for an evaluation\n");
		return;
	}
	printf("\nfitted to one half of the times, of the other half in %zu classes:\n%-10s%12s%12s\n%-10s%12s%12s\n",
	       s->evaluations[FORM_LOG].classes, "", "R^2 of the", "R^2 of the",
	       "model", "mean", "variance");
	for (int i = 0; i < NR_FORMS; i++) {
		const struct evaluation *e = &s->evaluations[i];

		printf("%-10s", form_name(i));
		put_r2(e->mean_r2);
		put_r2(e->variance_r2);
		if (e->impossible)
			printf("  no distribution for %zu of the classes",
			       e->impossible);
		putchar('\n');
	}
	printf("the %s model predicts the mean better, and predict uses it\n",
	       form_name(s->better));
}

/* -1 without a message if the training half does not tell coefficients. */
static int evaluate_form(const struct grid *g, enum form form,
			 struct evaluation *e)
{
	struct coefficients c;

	if (coefficients_regress(&c, form, g->training, g->halved))
		return -1;
	*e = evaluate(&c, g->held_out, g->halved);
	return 0;
}

/* Fits of one length, or of one number of processes, tell no law of it. */
static int check_grid(const struct noise_options *o)
{
	if (o->nr_lengths > 1 && o->nr_per_core > 1)
		return 0;
	warn("noise refit: needs two or more lengths and two or more numbers of processes: it has %zu and %zu",
	     o->nr_lengths, o->nr_per_core);
	return -1;
}

static int make_models(const struct grid *g, struct stored *s)
{
	int err = 0;

	*s = (struct stored){ 0 };
	for (int i = 0; i < NR_FORMS && !err; i++) {
		s->has[i] = true;
		s->evaluations[i] = (struct evaluation){ NAN, NAN, 0, 0 };
		err = coefficients_regress(&s->of[i], i, g->cells, g->count);
		if (!err)
			evaluate_form(g, i, &s->evaluations[i]);
	}
	if (err) {
		warn("noise refit: needs at least four fits, of several numbers of processes and several lengths: it has %zu",
		     g->count);
		return -1;
	}
	s->better = evaluation_better(s->evaluations);
	return 0;
}

static int write_picture(FILE *f, size_t output, const void *arg)
{
	return output == OUT_SVG ? classes_svg(f, arg) :
				   classes_queue_svg(f, arg);
}

static int finish(const struct grid *g, struct result_file *files,
		  const char *path)
{
	const struct classes classes = { g->cells, g->reports, g->count };
	struct stored s;

	if (make_models(g, &s) ||
	    store_save(&s, g->cells, g->reports, g->count, path) ||
	    result_files_write(files, NR_OUTPUTS, write_picture, &classes))
		return -1;
	if (options_on_stdout(g->o->outputs, NR_OUTPUTS))
		return 0;
	classes_text(stdout, &classes);
	for (int i = 0; i < NR_FORMS; i++)
		put_laws(&s.of[i]);
	put_evaluation(&s);
	printf("\nwritten to %s\n", path);
	return 0;
}

static void free_grid(struct grid *g)
{
	for (size_t i = 0; i < g->count; i++)
		report_free(&g->reports[i]);
	free(g);
}

int noise_refit(const struct noise_options *o)
{
	struct result_file files[NR_OUTPUTS] = { 0 };
	struct grid *g = xmalloc(sizeof(*g));
	char *path = o->coefficients ? xstrdup(o->coefficients) :
				       store_default_path();
	int err = result_files_check(files, o->outputs, NR_OUTPUTS);

	memset(g, 0, sizeof(*g));
	g->o = o;
	if (!err)
		err = check_grid(o);
	if (!err)
		err = store_try_save(path);
	if (!err)
		err = take_grid(g);
	if (!err)
		err = finish(g, files, path);
	result_files_free(files, NR_OUTPUTS);
	free_grid(g);
	free(path);
	return err;
}
