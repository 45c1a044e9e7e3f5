// SPDX-License-Identifier: GPL-2.0
#include "refit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/measure-output.h"
#include "base/progress.h"
#include "base/util.h"
#include "report.h"
#include "store.h"

struct grid {
	const struct noise_options *o;
	struct nops nops;
	struct cell cells[PER_CORE_MAX * LENGTHS_MAX];
	size_t count;
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

static void fit_cell(struct grid *g, const struct collection *c)
{
	struct cell *cell = &g->cells[g->count];
	struct report r = { .values = c->noise, .count = c->count,
			    .nominal = c->nominal };

	if (report_assess(&r, NAN)) {
		tell_unfit(cell, "cannot be fitted");
	} else if (!r.fits[LEVY].converged) {
		tell_unfit(cell, "no maximum of the likelihood was found");
	} else {
		cell->length = c->nominal;
		cell->levy = r.fits[LEVY].dist;
		cell->closest = r.closest->dist.family;
		g->count++;
	}
	free(r.sorted);
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

static void put_cells(const struct grid *g)
{
	printf("\n%10s%12s%14s%12s%12s  %s\n%10s%12s%14s%12s%12s  %s\n",
	       "processes", "work", "location", "scale", "bound",
	       "closest by", "per core", "us", "us", "us", "us",
	       "Anderson-Darling");
	for (size_t i = 0; i < g->count; i++) {
		const struct cell *c = &g->cells[i];

		printf("%10u%12.5g%14.4g%12.4g%12.4g  %s\n", c->per_core,
		       c->length * 1e6, c->levy.location * 1e6,
		       c->levy.scale * 1e6, c->levy.bound * 1e6,
		       family_name(c->closest));
	}
}

static void put_laws(const struct coefficients *c)
{
	printf("\n%-10s%14s%14s%14s%8s  %s\n", "", "A", "B", "C", "R^2",
	       "off by");
	for (int i = 0; i < NR_PARAMETERS; i++) {
		const struct law *law = &c->laws[i];

		printf("%-10s%14.5g%14.5g%14.5g%8.2f  a factor of %.3g\n",
		       parameter_name(i), law->of[0], law->of[1], law->of[2],
		       law->r2, exp(law->error));
	}
}

int noise_refit(const struct noise_options *o)
{
	struct grid g = { .o = o };
	char *path = o->coefficients ? xstrdup(o->coefficients) :
				       store_default_path();
	struct coefficients c;
	int err = store_try_save(path);

	if (!err)
		err = take_grid(&g);
	if (!err && coefficients_regress(&c, FORM_LOG, g.cells, g.count)) {
		warn("noise refit: needs at least four fits, of several numbers of processes and several lengths: it has %zu",
		     g.count);
		err = -1;
	}
	if (!err)
		err = store_save(&c, g.cells, g.count, path);
	if (!err) {
		put_cells(&g);
		put_laws(&c);
		printf("\nwritten to %s\n", path);
	}
	free(path);
	return err;
}
