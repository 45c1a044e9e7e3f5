// SPDX-License-Identifier: GPL-2.0
#include "bootstrap.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"

#define SEED	1

static void draw(gsl_rng *rng, const struct dist *d, double *values,
		 size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i] = dist_quantile(d, gsl_rng_uniform_pos(rng));
	gsl_sort(values, 1, count);
}

/* Fits as the times themselves were fitted, but begins at the truth. */
static struct fit fit_again(const struct bootstrap *b, const struct dist *truth,
			    const double *sorted, size_t count)
{
	struct limits limits = {
		.least = b->least,
		.bound = b->own_bound ? fit_bound(sorted, count) : b->bound,
	};

	return fit_family_from(truth, sorted, count, &limits);
}

double bootstrap_p_value(const struct bootstrap *b, const struct fit *fit,
			 size_t count)
{
	size_t done = 0, further = 0;
	double *values;
	gsl_rng *rng;

	if (!b->replicates || !fit->converged)
		return NAN;
	values = xmalloc(count * sizeof(*values));
	rng = gsl_rng_alloc(gsl_rng_taus2);
	gsl_rng_set(rng, SEED);
	for (size_t i = 0; i < b->replicates; i++) {
		struct fit again;

		draw(rng, &fit->dist, values, count);
		again = fit_again(b, &fit->dist, values, count);
		done += again.converged;
		further += again.converged &&
			   again.anderson_darling >= fit->anderson_darling;
		if (b->progress)
			b->progress(b->arg);
	}
	gsl_rng_free(rng);
	free(values);
	/* The times themselves are one of the sets. */
	return done ? (double)(further + 1) / (double)(done + 1) : NAN;
}
