// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/util.h"
#include "service.h"

/* Noise is the time beyond the shortest possible one, the Levy's location. */
static void assess_service(struct report *r)
{
	const struct fit *levy = &r->fits[LEVY];
	double location = levy->dist.location;

	r->work = r->divergence = r->waits = NAN;
	if (!levy->converged)
		return;
	r->work = r->nominal + location;
	r->divergence = service_divergence(r->work, levy->dist.scale,
					   levy->dist.bound - location);
	r->waits = service_waits(r->work,
				 gsl_stats_mean(r->values, 1, r->count) -
				 location,
				 gsl_stats_variance(r->values, 1, r->count));
}

/*
 * By how much less than the work a time can be at most: of a file's, nothing is
 * known but that no time is below 0; but the shortest times are what the work here
 * is calibrated by, and no CPU becomes twice as fast.
 */
static double most_gained(const struct report *r)
{
	return r->file ? r->nominal : r->nominal / 2;
}

const char *switches_name(enum switches kind)
{
	static const char *const names[] = {
		[VOLUNTARY] = "voluntary", [INVOLUNTARY] = "involuntary",
	};

	return names[kind];
}

static bool varies(const double *values, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (values[i] != values[0])
			return true;
	return false;
}

static void correlate(struct report *r)
{
	double *work = xmalloc(2 * r->count * sizeof(*work));

	for (int i = 0; i < NR_SWITCHES; i++) {
		const double *switches = r->switches[i];
		struct correlation *c = &r->correlations[i];

		c->linear = c->rank = NAN;
		if (!switches || !varies(switches, r->count) ||
		    !varies(r->values, r->count))
			continue;
		c->linear = gsl_stats_correlation(r->values, 1, switches, 1,
						  r->count);
		c->rank = gsl_stats_spearman(r->values, 1, switches, 1,
					     r->count, work);
	}
	free(work);
}

static void compute_p_values(struct report *r, double bound)
{
	const struct bootstrap b = {
		.replicates = r->replicates, .own_bound = isnan(bound),
		.least = -most_gained(r), .bound = bound,
		.progress = r->progress, .arg = r->progress_arg,
	};

	for (int i = 0; i < NR_FAMILIES; i++)
		r->p_values[i] = bootstrap_p_value(&b, &r->fits[i], r->count);
}

int report_fit(struct report *r, double bound)
{
	struct limits limits = { .least = -most_gained(r) };
	const char *why;

	r->sorted = xmalloc(r->count * sizeof(*r->sorted));
	for (size_t i = 0; i < r->count; i++)
		r->sorted[i] = r->values[i];
	gsl_sort(r->sorted, 1, r->count);
	why = fit_refuses(r->sorted, r->count);
	if (why) {
		warn("noise: %s", why);
		return -1;
	}
	limits.bound = isnan(bound) ? fit_bound(r->sorted, r->count) : bound;
	if (limits.bound <= r->sorted[r->count - 1]) {
		warn("noise: --bound %g s is not over all times: the longest takes %g s more than the work",
		     bound, r->sorted[r->count - 1]);
		return -1;
	}
	for (int i = 0; i < NR_FAMILIES; i++)
		r->fits[i] = fit_family(i, r->sorted, r->count, &limits);
	r->closest = fit_closest(r->fits, NR_FAMILIES);
	return 0;
}

int report_assess(struct report *r, double bound)
{
	if (report_fit(r, bound))
		return -1;
	compute_p_values(r, bound);
	correlate(r);
	assess_service(r);
	return 0;
}

void report_free(struct report *r)
{
	free(r->values);
	free(r->sorted);
	for (int i = 0; i < NR_SWITCHES; i++)
		free(r->switches[i]);
}
