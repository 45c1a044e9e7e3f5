// SPDX-License-Identifier: GPL-2.0
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "classes.h"

static void put(FILE *f, int width, double number)
{
	if (isnan(number))
		fprintf(f, "%*s", width, "-");
	else
		fprintf(f, "%*.3g", width, number);
}

static void put_class(FILE *f, const struct cell *cell)
{
	fprintf(f, "%10u%9.4g", cell->per_core, cell->length * 1e6);
}

static void put_fits(FILE *f, const struct classes *c)
{
	fprintf(f, "\n%10s%12s%14s%12s%12s  %s\n%10s%12s%14s%12s%12s  %s\n",
		"processes", "work", "location", "scale", "bound",
		"closest by", "per core", "us", "us", "us", "us",
		"Anderson-Darling");
	for (size_t i = 0; i < c->count; i++) {
		const struct cell *cell = &c->cells[i];

		fprintf(f, "%10u%12.5g%14.4g%12.4g%12.4g  %s\n", cell->per_core,
			cell->length * 1e6, cell->levy.location * 1e6,
			cell->levy.scale * 1e6, cell->levy.bound * 1e6,
			family_name(cell->closest));
	}
}

static void put_summary(FILE *f, const struct cell *cell, const struct report *r)
{
	put_class(f, cell);
	put(f, 10, gsl_stats_mean(r->values, 1, r->count) * 1e6);
	put(f, 10, gsl_stats_sd(r->values, 1, r->count) * 1e6);
	for (int i = 0; i < NR_SWITCHES; i++)
		put(f, 10, gsl_stats_mean(r->switches[i], 1, r->count));
	put(f, 10, r->correlations[INVOLUNTARY].linear);
	put(f, 10, r->correlations[INVOLUNTARY].rank);
	fputc('\n', f);
}

static void put_summaries(FILE *f, const struct classes *c)
{
	fprintf(f, "\n%10s%9s%10s%10s%20s%20s\n%10s%9s%10s%10s%10s%10s%10s%10s\n",
		"processes", "work", "mean", "deviation", "switches per time",
		"correlation, invol.", "per core", "us", "us", "us", "volunt.",
		"involunt.", "Pearson", "Spearman");
	for (size_t i = 0; i < c->count; i++)
		put_summary(f, &c->cells[i], &c->reports[i]);
}

static void put_distances(FILE *f, const struct classes *c)
{
	size_t replicates = c->count ? c->reports[0].replicates : 0;

	fprintf(f, "\n%10s%9s", "processes", "work");
	for (int i = 0; i < NR_FAMILIES; i++)
		fprintf(f, "%14s", family_name(i));
	fprintf(f, "\n%10s%9s", "per core", "us");
	for (int i = 0; i < NR_FAMILIES; i++)
		fprintf(f, "%14s", replicates ? "A^2      p" : "A^2");
	fputc('\n', f);
	for (size_t i = 0; i < c->count; i++) {
		const struct report *r = &c->reports[i];

		put_class(f, &c->cells[i]);
		for (int j = 0; j < NR_FAMILIES; j++) {
			put(f, replicates ? 7 : 14, r->fits[j].converged ?
				r->fits[j].anderson_darling : NAN);
			if (replicates)
				put(f, 7, r->p_values[j]);
		}
		fputc('\n', f);
	}
}

void classes_text(FILE *f, const struct classes *c)
{
	put_fits(f, c);
	put_summaries(f, c);
	put_distances(f, c);
}
