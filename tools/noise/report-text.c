// SPDX-License-Identifier: GPL-2.0
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "measure/measure-output.h"
#include "report.h"
#include "times.h"

/* In so many samples, exp(nats * samples) to 1 tells two distributions apart. */
#define ODDS		20
/* Warn if the divergence from M/M/1, or the error of its waits, is larger. */
#define NATS_WARNED	0.01
#define WAITS_WARNED	0.05
/* A p-value below this refuses a distribution. */
#define REFUSED		0.05

/* How the columns of a table tell times. */
struct format {
	struct scale scale;
	int digits;		/* behind the point: of four that matter */
};

/* By the times between the quartiles, to which the rest is to be compared. */
static struct format format_of(const struct report *r)
{
	double middle = r->sorted[3 * (r->count / 4)] -
			r->sorted[r->count / 4];
	struct format format = { .scale = scale_of(middle) };

	format.digits = 3 - (int)floor(log10(middle * format.scale.factor));
	format.digits = format.digits < 0 ? 0 : format.digits;
	return format;
}

static void put(FILE *f, double seconds, struct format format)
{
	double value = seconds * format.scale.factor;
	char text[400];

	if (isnan(value)) {
		fprintf(f, "%10s", "-");
		return;
	}
	snprintf(text, sizeof(text), "%.*f", format.digits, value);
	if (strlen(text) < 10)
		fprintf(f, "%10s", text);
	else
		fprintf(f, "%10.3g", value);
}

static void put_source(FILE *f, const struct report *r)
{
	const struct workload *w = &r->workload;
	struct scale scale = scale_of(w->length);

	if (r->file) {
		fprintf(f, "\n%zu times from %s\n", r->count, r->file);
		return;
	}
	fprintf(f, "\n%zu times of nops that take %.6g %s without noise, %u %s per core, %u %s;\n"
		"the table shows how much longer they took: the noise\n\n", r->count,
		w->length * scale.factor, scale.unit, w->per_core,
		w->per_core == 1 ? "process" : "processes", r->cores,
		r->cores == 1 ? "core" : "cores");
	fprintf(f, "  calibrated: %.4g us, and %.4g ns for 256 nops, to %.2g %%\n",
		r->nops.once * 1e6, r->nops.block * 1e9, r->nops.error * 100);
}

static void put_times(FILE *f, const struct report *r, struct format format)
{
	const double *t = r->sorted;

	fprintf(f, "\n  %-8s%10s%10s%10s%10s%10s\n  %-8s", "", "shortest",
		"median", "mean", "deviation", "longest", "times");
	put(f, t[0], format);
	put(f, gsl_stats_median_from_sorted_data(t, 1, r->count), format);
	put(f, gsl_stats_mean(t, 1, r->count), format);
	put(f, gsl_stats_sd(t, 1, r->count), format);
	put(f, t[r->count - 1], format);
	fprintf(f, "  %s\n", format.scale.unit);
}

static void put_fit(FILE *f, const struct fit *fit, struct format format)
{
	const struct dist *d = &fit->dist;

	fprintf(f, "  %-8s", family_name(d->family));
	if (!fit->converged) {
		fputs("  no maximum of the likelihood was found\n", f);
		return;
	}
	put(f, d->location, format);
	put(f, d->scale, format);
	put(f, d->family == LEVY ? d->bound : NAN, format);
	put(f, dist_mean(d), format);
	put(f, sqrt(dist_variance(d)), format);
	fprintf(f, "%11.1f%9.*g\n", fit->log_likelihood,
		fit->anderson_darling < 1e4 ? 4 : 3, fit->anderson_darling);
}

static void put_fits(FILE *f, const struct report *r, struct format format)
{
	const char *unit = format.scale.unit;

	fprintf(f, "\n  %-8s%10s%10s%10s%10s%10s%11s%9s\n", "", "location",
		"scale", "bound", "mean", "deviation", "log", "Anderson");
	fprintf(f, "  %-8s%10s%10s%10s%10s%10s%11s%9s\n", "fits", unit, unit,
		unit, unit, unit, "likelihood", "Darling");
	for (int i = 0; i < NR_FAMILIES; i++)
		put_fit(f, &r->fits[i], format);
}

static void put_verdict(FILE *f, const struct report *r)
{
	const struct fit *levy = &r->fits[LEVY];

	if (!r->closest)
		return;
	fprintf(f, "\n  closest fit by Anderson-Darling: %s",
		family_name(r->closest->dist.family));
	if (r->closest != levy && levy->converged)
		fprintf(f, "; Levy is %.3g times as far off",
			levy->anderson_darling / r->closest->anderson_darling);
	fputc('\n', f);
}

static void put_p_values(FILE *f, const struct report *r)
{
	const char *before = "  at 5 %, these times are not refused as";

	if (!r->replicates)
		return;
	fprintf(f, "\n  p-values, by %zu sets of times that were drawn from each fit:\n   ",
		r->replicates);
	for (int i = 0; i < NR_FAMILIES; i++) {
		if (isnan(r->p_values[i]))
			fprintf(f, " %s -", family_name(i));
		else
			fprintf(f, " %s %.2g", family_name(i), r->p_values[i]);
		fputs(i < NR_FAMILIES - 1 ? "," : "\n", f);
	}
	for (int i = 0; i < NR_FAMILIES; i++) {
		if (!(r->p_values[i] >= REFUSED))
			continue;
		fprintf(f, "%s %s", before, family_name(i));
		before = ",";
	}
	fputs(*before == ',' ? "\n" : "  at 5 %, these times are from none of the four\n",
	      f);
}

static void put_number(FILE *f, double number)
{
	if (isnan(number))
		fprintf(f, "%10s", "-");
	else
		fprintf(f, "%10.3g", number);
}

static void put_switches(FILE *f, const struct report *r)
{
	if (!r->switches[VOLUNTARY])
		return;
	fprintf(f, "\n  %-12s%10s%10s%10s%10s\n", "switches", "per time", "most",
		"Pearson", "Spearman");
	for (int i = 0; i < NR_SWITCHES; i++) {
		fprintf(f, "  %-12s", switches_name(i));
		put_number(f, gsl_stats_mean(r->switches[i], 1, r->count));
		put_number(f, gsl_stats_max(r->switches[i], 1, r->count));
		put_number(f, r->correlations[i].linear);
		put_number(f, r->correlations[i].rank);
		fputc('\n', f);
	}
}

static void put_service(FILE *f, const struct report *r)
{
	struct scale scale = scale_of(r->work);

	if (isnan(r->divergence)) {
		fputs("  the effect of the noise on exponential times cannot be computed\n",
		      f);
		return;
	}
	fprintf(f, "  with the noise of the Levy fit, exponential times of mean %.4g %s are %.3g\n"
		"  nats from exponential (KL divergence)",
		r->work * scale.factor, scale.unit, r->divergence);
	if (r->divergence > 0)
		fprintf(f, ": %.2g jobs tell the two apart with\n  odds of %d to 1",
			ceil(log(ODDS) / r->divergence), ODDS);
	fputc('\n', f);
	if (r->divergence < NATS_WARNED && fabs(r->waits - 1) < WAITS_WARNED)
		return;
	fprintf(f, "  warning: with this noise, a server is not M/M/1: by the mean and variance of\n"
		"  these times, its mean waits are %.3g times those of M/M/1\n", r->waits);
}

int report_text(FILE *f, const struct report *r)
{
	struct format format = format_of(r);

	put_source(f, r);
	put_times(f, r, format);
	put_fits(f, r, format);
	put_verdict(f, r);
	put_p_values(f, r);
	put_switches(f, r);
	put_service(f, r);
	return ferror(f) ? -1 : 0;
}

int report_csv(FILE *f, const struct report *r)
{
	bool switches = r->switches[VOLUNTARY];

	fputs(switches ? TIMES_COLUMN "," VOLUNTARY_COLUMN "," INVOLUNTARY_COLUMN :
			 TIMES_COLUMN, f);
	fputc('\n', f);
	for (size_t i = 0; i < r->count; i++) {
		fprintf(f, "%.12g", r->values[i] + r->nominal);
		for (int j = 0; switches && j < NR_SWITCHES; j++)
			fprintf(f, ",%.0f", r->switches[j][i]);
		fputc('\n', f);
	}
	return ferror(f) ? -1 : 0;
}
