// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/time-unit.h"
#include "base/util.h"
#include "output.h"

#define BOLD	"\033[1m"
#define GREEN	"\033[32m"
#define YELLOW	"\033[33m"
#define RED	"\033[31m"
#define PLAIN	"\033[0m"

void whatif_number(char *buf, size_t size, double value, const char *unit)
{
	double a = fabs(value);
	int digits = a >= 1000 || a == 0 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 :
		     a >= 0.1 ? 3 : 6;

	snprintf(buf, size, "%.*f%s%s", digits, value, *unit ? " " : "",
		 unit);
}

static double metric_of(const struct whatif_sample *s)
{
	return s->metric;
}

static double ran_of(const struct whatif_sample *s)
{
	return s->ran;
}

static double overhead_of(const struct whatif_sample *s)
{
	return s->overhead;
}

static double pair_of(const struct whatif_sample *s)
{
	return s->pair_ns;
}

static double median_of(const struct whatif_sample *s)
{
	return s->latency.median;
}

/* The mean over the runs. */
static void mean_row(FILE *f, const struct whatif_question *q,
		     const struct whatif_samples *samples, size_t condition,
		     const char *name,
		     double (*figure)(const struct whatif_sample *))
{
	char number[40];
	const char *unit;
	double factor = whatif_unit(q, &unit);

	whatif_number(number, sizeof(number),
		      factor * whatif_mean(samples, condition, figure), unit);
	fprintf(f, "  %-24s %14s", name, number);
}

int whatif_name_width(const struct whatif_plan *plan)
{
	int width = 16;

	for (size_t c = CONDITIONS_FIRST; c < plan->nr_conditions; c++) {
		int len = (int)strlen(plan->conditions[c].name);

		width = len > width ? len : width;
	}
	return width > 40 ? 40 : width;
}

static const char *colour_of(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_PREDICTION:
		return GREEN;
	case VERDICT_NOT_TRUSTED:
		return RED;
	default:
		return YELLOW;
	}
}

static void variant_row(FILE *f, const struct whatif_plan *plan,
			const struct whatif_answer *answer, size_t condition,
			bool colour)
{
	const struct whatif_result *r = whatif_result(answer, condition);

	fprintf(f, "  %-*s %12.0f %10.1f %%  %s%+8.2f %% [%+.2f %+.2f]%s  %s%s%s%s%s\n",
		whatif_name_width(plan), plan->conditions[condition].name,
		r->calls,
		100 * r->share, colour ? BOLD : "", r->change.value,
		r->change.low, r->change.high, colour ? PLAIN : "",
		colour ? colour_of(r->verdict) : "",
		whatif_verdict(r->verdict), colour ? PLAIN : "",
		r->reason.id ? ": " : "", r->reason.id ? r->reason.text : "");
}

/* The same for all of them, mostly. */
static void estimators(FILE *f, const struct whatif_plan *plan,
		       const struct whatif_answer *answer)
{
	size_t n = plan->nr_conditions - CONDITIONS_FIRST;
	bool same = true;

	for (size_t i = 1; i < n; i++)
		same = same &&
		       answer->results[i].estimator ==
			       answer->results[0].estimator;
	for (size_t i = 0; i < (same ? 1 : n); i++) {
		const struct whatif_result *r = &answer->results[i];

		fprintf(f, "  %s: %s", same ? "estimated by" :
			plan->conditions[i + CONDITIONS_FIRST].name,
			whatif_estimator(r->estimator));
		if (r->fallback.id)
			fprintf(f, ", because %s", r->fallback.text);
		fputc('\n', f);
	}
}

static void patches(FILE *f, const struct whatif_samples *samples)
{
	for (size_t i = 0; i < samples->nr_patches; i++) {
		const struct whatif_patch *p = &samples->patches[i];

		fprintf(f, "  %-8s %s in %s: %s", p->patched ? "scaled" :
			"refused", p->symbol, p->object, p->how);
		if (p->processes > 1)
			fprintf(f, ", in %u processes", p->processes);
		fputc('\n', f);
	}
}

static void overhead(FILE *f, const struct whatif_samples *samples)
{
	double pair = whatif_mean(samples, 1, pair_of);
	double lost = whatif_mean(samples, 1, overhead_of) / 1e9;
	double ran = whatif_mean(samples, 1, ran_of) / 1e9;

	if (pair > 0)
		fprintf(f, "  entering and leaving a function costs %.0f ns\n",
			pair);
	fprintf(f, "  overhead given back: %.6f s of a run, %.2f %% of its CPU time\n",
		lost, 100 * lost / (ran + lost));
}

/* An interval wider than the requested precision shows nothing. */
static const char *bias_verdict(const struct whatif_question *q,
				const struct whatif_answer *answer)
{
	if (answer->bias.low > 0 || answer->bias.high < 0)
		return "";
	if (whatif_width(&answer->bias) > q->precision)
		return ", may be 0: its interval is wide";
	return ", not distinguishable from none";
}

void whatif_table(FILE *f, const struct whatif *w, bool colour, bool stats)
{
	char *command = whatif_command(&w->question);
	char *title = whatif_metric_title(&w->question);
	const struct machine m = whatif_environment_machine(&w->samples.environment);
	char *machine = machine_text(&m);

	fprintf(f, "\n%s%.200s%s\n%zu rounds in virtual time on %s\n",
		colour ? BOLD : "", command, colour ? PLAIN : "",
		whatif_rounds(&w->samples), machine);
	free(machine);
	if (w->question.deterministic)
		fprintf(f, "Times are counts of %s\n", time_unit_text());
	fputc('\n', f);
	mean_row(f, &w->question, &w->samples, 0, title, metric_of);
	fprintf(f, "\n");
	if (w->question.metric.kind == METRIC_LATENCY) {
		mean_row(f, &w->question, &w->samples, 0, "median", median_of);
		fprintf(f, "\n");
	}
	mean_row(f, &w->question, &w->samples, 1, "null experiment", metric_of);
	fprintf(f, "  bias %+.2f %% [%+.2f %+.2f]%s\n\n", w->answer.bias.value,
		w->answer.bias.low, w->answer.bias.high,
		bias_verdict(&w->question, &w->answer));

	fprintf(f, "  %-*s %12s %12s  %-27s  %s\n",
		whatif_name_width(&w->plan),
		"variant",
		"calls a run", "time in it", "change [95 % interval]",
		"verdict");
	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++)
		variant_row(f, &w->plan, &w->answer, c, colour);
	fputc('\n', f);
	estimators(f, &w->plan, &w->answer);
	if (stats) {
		patches(f, &w->samples);
		overhead(f, &w->samples);
	}
	for (size_t i = 0; i < w->answer.nr_warnings; i++)
		fprintf(f, "  note: %s\n", w->answer.warnings[i].text);
	fputc('\n', f);
	free(command);
	free(title);
}

void whatif_csv_text(FILE *f, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++)
		fprintf(f, "%s%c", *text == '"' ? "\"" : "", *text);
	fputc('"', f);
}

static void csv_interval(FILE *f, const struct interval *i)
{
	fprintf(f, ",%.6g,%.6g,%.6g", i->value, i->low, i->high);
}

void whatif_csv_names(FILE *f)
{
	fputs("variant,faster_percent,calls,share_percent,change_percent,change_low,change_high,median_percent,median_low,median_high,amdahl_percent,estimator,verdict,reason\n",
	      f);
}

void whatif_csv_row(FILE *f, const struct whatif *w, size_t condition)
{
	const struct whatif_result *r = whatif_result(&w->answer, condition);

	whatif_csv_text(f, w->plan.conditions[condition].name);
	fprintf(f, ",%.6g,%.6g,%.6g", 100 * r->cut, r->calls, 100 * r->share);
	csv_interval(f, &r->change);
	csv_interval(f, &r->plain);
	fprintf(f, ",%.6g,", r->amdahl);
	whatif_csv_text(f, whatif_estimator(r->estimator));
	fputc(',', f);
	whatif_csv_text(f, whatif_verdict(r->verdict));
	fputc(',', f);
	whatif_csv_text(f, r->reason.id ? r->reason.text : "");
	fputc('\n', f);
}

int whatif_csv(FILE *f, const struct whatif *w)
{
	whatif_csv_names(f);
	for (size_t c = CONDITIONS_FIRST; c < w->plan.nr_conditions; c++)
		whatif_csv_row(f, w, c);
	return fflush(f) || ferror(f) ? -1 : 0;
}
