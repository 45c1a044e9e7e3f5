// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "base/json-text.h"
#include "report.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *fit_json(const struct fit *fit)
{
	const struct dist *d = &fit->dist;

	if (!fit->converged)
		return json_pack("{ss sb}", "distribution",
				 family_name(d->family), "converged", false);
	return json_pack("{ss sb so so so so so so so}",
			 "distribution", family_name(d->family),
			 "converged", true,
			 "location_s", number(d->location),
			 "scale_s", number(d->scale),
			 "bound_s", d->family == LEVY ? number(d->bound) :
							json_null(),
			 "mean_s", number(dist_mean(d)),
			 "variance_s2", number(dist_variance(d)),
			 "log_likelihood", number(fit->log_likelihood),
			 "anderson_darling", number(fit->anderson_darling));
}

static json_t *source_json(const struct report *r)
{
	if (r->file)
		return json_pack("{so so}", "file",
				 json_text(r->file, strlen(r->file)),
				 "length_s", number(r->nominal));
	return json_pack("{sI sI so so so so}",
			 "processes_per_core", (json_int_t)r->workload.per_core,
			 "cores", (json_int_t)r->cores,
			 "length_s", number(r->nominal),
			 "calibration_once_s", number(r->nops.once),
			 "calibration_256_nops_s", number(r->nops.block),
			 "calibration_error", number(r->nops.error));
}

int report_json(FILE *f, const struct report *r)
{
	json_t *fits = json_array(), *values = json_array(), *root;

	for (int i = 0; i < NR_FAMILIES; i++)
		json_array_append_new(fits, fit_json(&r->fits[i]));
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(values, number(r->values[i] +
						     r->nominal));
	root = json_pack("{si ss so so so so so so so}",
			 "version", NOISE_JSON_VERSION, "tense", TENSE_VERSION,
			 "source", source_json(r), "fits", fits,
			 "closest", r->closest ?
				json_string(family_name(r->closest->dist.family)) :
				json_null(),
			 "work_s", number(r->work),
			 "divergence_nats", number(r->divergence),
			 "waits_over_mm1", number(r->waits),
			 "times_s", values);
	return json_write(f, root);
}
