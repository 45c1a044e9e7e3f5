// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "base/json-text.h"
#include "report.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *fit_json(const struct report *r, int family)
{
	const struct fit *fit = &r->fits[family];
	const struct dist *d = &fit->dist;

	if (!fit->converged)
		return json_pack("{ss sb}", "distribution",
				 family_name(d->family), "converged", false);
	return json_pack("{ss sb so so so so so so so so}",
			 "distribution", family_name(d->family),
			 "converged", true,
			 "location_s", number(d->location),
			 "scale_s", number(d->scale),
			 "bound_s", d->family == LEVY ? number(d->bound) :
							json_null(),
			 "mean_s", number(dist_mean(d)),
			 "variance_s2", number(dist_variance(d)),
			 "log_likelihood", number(fit->log_likelihood),
			 "anderson_darling", number(fit->anderson_darling),
			 "p_value", number(r->p_values[family]));
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

/* null where the file with the times does not tell. */
static json_t *switches_json(const struct report *r)
{
	json_t *all = json_object();

	for (int i = 0; i < NR_SWITCHES; i++) {
		json_t *list = json_array();

		for (size_t j = 0; r->switches[i] && j < r->count; j++)
			json_array_append_new(list,
				json_integer((json_int_t)r->switches[i][j]));
		json_object_set_new(all, switches_name(i), r->switches[i] ?
			json_pack("{so so so}",
				  "pearson", number(r->correlations[i].linear),
				  "spearman", number(r->correlations[i].rank),
				  "counts", list) : json_null());
		if (!r->switches[i])
			json_decref(list);
	}
	return all;
}

int report_json(FILE *f, const struct report *r)
{
	json_t *fits = json_array(), *values = json_array(), *root;

	for (int i = 0; i < NR_FAMILIES; i++)
		json_array_append_new(fits, fit_json(r, i));
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(values, number(r->values[i] +
						     r->nominal));
	root = json_pack("{si ss so so sI so so so so so so}",
			 "version", NOISE_JSON_VERSION, "tense", TENSE_VERSION,
			 "source", source_json(r), "fits", fits,
			 "replicates", (json_int_t)r->replicates,
			 "switches", switches_json(r),
			 "closest", r->closest ?
				json_string(family_name(r->closest->dist.family)) :
				json_null(),
			 "work_s", number(r->work),
			 "divergence_nats", number(r->divergence),
			 "waits_over_mm1", number(r->waits),
			 "times_s", values);
	return json_write(f, root);
}
