// SPDX-License-Identifier: GPL-2.0
#include "learnt-text.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "measure-output.h"
#include "scatter.h"

static void put_age(FILE *f, double seconds)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {
		{ 86400, "days" }, { 3600, "hours" }, { 60, "minutes" },
	};

	for (int i = 0; i < 3; i++) {
		if (seconds < 2 * units[i].seconds)
			continue;
		fprintf(f, "%.0f %s ago", floor(seconds / units[i].seconds),
			units[i].name);
		return;
	}
	fputs("just now", f);
}

static void put_circumstances(FILE *f, const struct circumstances *c,
			      const struct circumstances *here)
{
	fputs("Learnt ", f);
	put_age(f, difftime(here->when, c->when));
	fprintf(f, " on %s: %s CPUs, %s, %s\n", c->machine[MACHINE_HOST],
		c->machine[MACHINE_CPUS], c->machine[MACHINE_CPU],
		c->machine[MACHINE_KERNEL]);
	for (int i = 0; i < NR_MACHINE; i++)
		if (strcmp(c->machine[i], here->machine[i]) != 0)
			fprintf(f, "  the %s is another one now, %s: learn again\n",
				machine_fact_name(i), here->machine[i]);
	if (c->degraded)
		fprintf(f, "  %s\n", c->degraded);
}

static size_t l_samples(const struct series *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		count += !learn_is_central(s, i);
	return count;
}

static void put_series(FILE *f, const struct series *s)
{
	const struct scale scale = scale_of(s->cluster.centre);
	const size_t longer = l_samples(s);

	fprintf(f, "  %zu", s->count);
	if (s->count < s->asked)
		fprintf(f, " of %zu", s->asked);
	fprintf(f, " samples of %g s, levelled: %.4f %s, deviation %.4f %s; %zu L-sample%s, from %.4f %s on\n",
		s->length, s->cluster.centre * scale.factor, scale.unit,
		s->cluster.deviation * scale.factor, scale.unit, longer,
		longer == 1 ? "" : "s", s->cluster.bound * scale.factor,
		scale.unit);
}

static void put_ms(FILE *f, double ms)
{
	if (isnan(ms))
		fprintf(f, " %9s   ", "-");
	else
		fprintf(f, " %9.0f ms", ms);
}

static void put_limit(FILE *f, double seconds)
{
	if (isnan(seconds))
		fprintf(f, " %9s  ", "-");
	else
		fprintf(f, " %9.4g s", seconds);
}

static const struct periodicity *seen(const struct learnt *learnt,
				      const char *daemon)
{
	for (size_t i = 0; i < learnt->nr_periods; i++)
		if (!strcmp(learnt->periods[i].daemon, daemon))
			return &learnt->periods[i].seen;
	return NULL;
}

static struct scale span_scale(double seconds)
{
	if (seconds >= 7200)
		return (struct scale){ "h", 1 / 3600.0 };
	if (seconds >= 120)
		return (struct scale){ "min", 1 / 60.0 };
	return (struct scale){ "s", 1 };
}

static void put_period(FILE *f, const struct periodicity *p)
{
	struct scale scale;

	if (!p)
		return;
	scale = span_scale(p->period);
	if (isnan(p->period))
		fprintf(f, "  seen %zu time%s", p->occurrences,
			p->occurrences == 1 ? "" : "s");
	else if (!periodicity_is_known(p))
		fprintf(f, "  none: %.4g %s +- %.2g (%zu times)",
			p->period * scale.factor, scale.unit,
			p->error * scale.factor, p->occurrences);
	else if (periodicity_is_uncertain(p))
		fprintf(f, "  %.2g %s (?), seen twice",
			p->period * scale.factor, scale.unit);
	else
		fprintf(f, "  %.4g %s +- %.2g (%zu times)",
			p->period * scale.factor, scale.unit,
			p->error * scale.factor, p->occurrences);
}

void cutoffs_text(FILE *f, const struct cutoffs *cutoffs,
		  const struct learnt *learnt)
{
	if (!cutoffs->count) {
		fputs("No infrequent daemon: no sample is dropped\n", f);
		return;
	}
	fprintf(f, "%-16s %12s %12s %11s%s\n", "daemon", "short tasks",
		"long tasks", "from", learnt->nr_periods ? "  period" : "");
	for (size_t i = 0; i < cutoffs->count; i++) {
		const struct cutoff *c = &cutoffs->list[i];

		fprintf(f, "%-16s", c->daemon);
		put_ms(f, c->final_short);
		put_ms(f, c->final_long);
		put_limit(f, c->limit_s);
		put_period(f, seen(learnt, c->daemon));
		fputc('\n', f);
	}
}

void learnt_text(FILE *f, const struct learnt *learnt,
		 const struct cutoffs *cutoffs, const struct circumstances *c,
		 const struct circumstances *here)
{
	put_circumstances(f, c, here);
	for (int i = TASK_SHORT; i <= TASK_LONG; i++)
		if (learnt->series[i].count)
			put_series(f, &learnt->series[i]);
	fputc('\n', f);
	cutoffs_text(f, cutoffs, learnt);
}

void learnt_plot(FILE *f, const struct learnt *learnt, bool asked)
{
	if (!asked && !isatty(fileno(f)))
		return;
	for (int i = TASK_SHORT; i <= TASK_LONG; i++) {
		if (!learnt->series[i].count)
			continue;
		fprintf(f, "\nPairs of samples of %g s\n",
			learnt->series[i].length);
		scatter_text(f, &learnt->series[i]);
	}
}
