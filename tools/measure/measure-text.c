// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "measure-output.h"
#include "protocol.h"
#include "sample-sizes.h"

#define DISTURBANCES_SHOWN	5
#define WIDTH			80

struct scale scale_of(double seconds)
{
	if (seconds >= 1)
		return (struct scale){ "s", 1 };
	if (seconds >= 1e-3)
		return (struct scale){ "ms", 1e3 };
	return (struct scale){ "us", 1e6 };
}

const char *verdict_name(enum emp_verdict verdict)
{
	static const char *const names[] = {
		[EMP_LESS] = "faster", [EMP_MORE] = "slower",
		[EMP_SAME] = "not distinguishable", [EMP_UNKNOWN] = "unknown",
	};

	return names[verdict];
}

/* Reference loops are shown as the time they take on the whole. */
static double seconds_of(const struct measurement *m, enum metric metric)
{
	return metric == METRIC_REFERENCE ? measure_loop(m) : 1;
}

static double percent_of(const struct summary *s)
{
	return s->stddev / s->mean * 100;
}

/* A number where there is one. */
static void put(FILE *f, int width, int digits, double value,
		const char *unit)
{
	if (isnan(value))
		fprintf(f, "%*s%*s", width, "-", (int)strlen(unit) + 1, "");
	else
		fprintf(f, "%*.*f %s", width, digits, value, unit);
}

static void row(FILE *f, const struct measurement *m,
		const struct subject *s, enum metric metric)
{
	const struct scale scale = scale_of(s->all[METRIC_ELAPSED].mean);
	const struct summary *all = &s->all[metric], *emp = &s->emp[metric];
	double factor = scale.factor * seconds_of(m, metric);

	fprintf(f, "  %-18s", metric_name(metric));
	put(f, 10, 4, all->mean * factor, scale.unit);
	put(f, 8, 2, percent_of(all), "%");
	fprintf(f, " %5zu", emp->count);
	put(f, 11, 4, emp->mean * factor, scale.unit);
	put(f, 8, 2, percent_of(emp), "%");
	if (!isnan(emp->low))
		fprintf(f, "  [%.4f %.4f]", emp->low * factor,
			emp->high * factor);
	fputc('\n', f);
}

static void header(FILE *f, const struct subject *s)
{
	int unit = (int)strlen(scale_of(s->all[METRIC_ELAPSED].mean).unit);

	fprintf(f, "  %-18s%*s%*s\n", "", 10 + unit + 1 + 10, "all samples",
		6 + 12 + unit + 10, "protocol EMP");
	fprintf(f, "  %-18s%*s%10s %5s%*s%10s  %s\n", "", 10 + unit + 1, "mean",
		"deviation", "kept", 12 + unit, "mean", "deviation",
		"95 % interval");
}

static void extremes_row(FILE *f, const struct measurement *m,
			 const struct subject *s, enum metric metric)
{
	const struct scale scale = scale_of(s->all[METRIC_ELAPSED].mean);
	const struct summary *all = &s->all[metric], *emp = &s->emp[metric];
	double factor = scale.factor * seconds_of(m, metric);

	fprintf(f, "  %-18s", metric_name(metric));
	put(f, 10, 4, all->min * factor, scale.unit);
	put(f, 11, 4, all->max * factor, scale.unit);
	put(f, 13, 4, emp->min * factor, scale.unit);
	put(f, 11, 4, emp->max * factor, scale.unit);
	fputc('\n', f);
}

static void show_extremes(FILE *f, const struct measurement *m,
			  const struct subject *s)
{
	int unit = (int)strlen(scale_of(s->all[METRIC_ELAPSED].mean).unit) + 1;

	fprintf(f, "\n  %-18s%*s%*s%*s%*s\n", "", 10 + unit, "minimum",
		11 + unit, "maximum", 13 + unit, "minimum", 11 + unit,
		"maximum");
	for (int i = 0; i < NR_METRICS; i++)
		extremes_row(f, m, s, i);
}

static void show_drops(FILE *f, const struct measurement *m,
		       const struct subject *s)
{
	double seconds = measure_task_time(s);

	for (size_t i = 0; i < s->count; i++) {
		const struct sample *sample = &s->samples[i];
		const struct activity *a;

		if (sample->fate != SAMPLE_DAEMON)
			continue;
		a = &sample->others.list[sample->by];
		fprintf(f, "  sample %zu dropped: %s ran %.4g ms, its cutoff is %.4g ms\n",
			i + 1, a->name, (double)a->ns / 1e6,
			cutoff_for(&m->cutoffs, a->name, seconds));
	}
}

static void show_outliers(FILE *f, const struct subject *s, enum metric metric)
{
	const struct scale scale = scale_of(s->all[METRIC_ELAPSED].mean);

	for (size_t i = 0; i < s->count; i++) {
		const struct sample *sample = &s->samples[i];
		const struct activity *suspect;

		if (s->kept[metric][i] || sample->fate != SAMPLE_KEPT)
			continue;
		suspect = measure_suspect(s, i, metric);
		fprintf(f, "  sample %zu, %s: %.4f %s is beyond two standard deviations",
			i + 1, metric_name(metric),
			sample->values[metric] * scale.factor, scale.unit);
		if (suspect)
			fprintf(f, "; %s ran %.4g ms in it", suspect->name,
				(double)suspect->ns / 1e6);
		fputc('\n', f);
	}
}

static void show_reference(FILE *f, const struct subject *s)
{
	double p = s->reference_better;

	if (isnan(p))
		return;
	fprintf(f, "  the reference loop %s (p = %.3f)\n",
		p < 0 && p > -0.05 ? "takes the machine's drift out: its times scatter less" :
		p > 0 && p < 0.05 ? "does not help here: its times scatter more" :
		"does not help here: its times scatter neither less nor more",
		fabs(p));
}

static void best_row(FILE *f, const struct subject *s, enum metric metric)
{
	const struct scale scale = scale_of(s->best[METRIC_ELAPSED].best[0]);
	const struct kbest *b = &s->best[metric];
	double spread = kbest_spread(b) * 100;

	fprintf(f, "  %-18s%12.4f %s", metric_name(metric),
		b->best[0] * scale.factor, scale.unit);
	if (kbest_converged(b))
		fprintf(f, "  %u samples agree to %.3f %%\n", b->k, spread);
	else if (isfinite(spread))
		fprintf(f, "  did not converge: %u samples agree to %.3f %% only\n",
			b->k, spread);
	else if (b->samples >= b->k)
		fputs("  did not converge: it is less than the clock can tell\n",
		      f);
	else
		fprintf(f, "  did not converge: there are fewer than %u samples\n",
			b->k);
}

static void show_best(FILE *f, const struct measurement *m,
		      const struct subject *s)
{
	fprintf(f, "\n%s\nthe shortest of %zu sample%s after %zu warm-up%s\n\n",
		s->title, s->count, s->count == 1 ? "" : "s", m->warmup,
		m->warmup == 1 ? "" : "s");
	for (int i = 0; i < NR_BEST; i++)
		best_row(f, s, i);
}

static void show_subject(FILE *f, const struct measurement *m,
			 const struct subject *s)
{
	fprintf(f, "\n%s\n%zu sample%s after %zu warm-up%s\n\n", s->title,
		s->count, s->count == 1 ? "" : "s", m->warmup,
		m->warmup == 1 ? "" : "s");
	header(f, s);
	for (int i = 0; i < NR_METRICS; i++)
		row(f, m, s, i);
	show_extremes(f, m, s);
	fputc('\n', f);
	show_drops(f, m, s);
	show_outliers(f, s, METRIC_ELAPSED);
	show_outliers(f, s, METRIC_PROCESS);
	show_reference(f, s);
}

static void ratio_row(FILE *f, enum metric metric, const struct ratio *r)
{
	fprintf(f, "  %-18s", metric_name(metric));
	if (r->count)
		fprintf(f, "%8.4f  ", r->ratio);
	else
		fprintf(f, "%8s  ", "-");
	if (r->verdict != EMP_UNKNOWN)
		fprintf(f, "[%.4f %.4f]  ", r->low, r->high);
	fprintf(f, "%s\n", verdict_name(r->verdict));
}

static void show_ratios(FILE *f, const struct measurement *m)
{
	fprintf(f, "\n%s\nover %s\n\n", m->subjects[1].title,
		m->subjects[0].title);
	for (int i = 0; i < NR_METRICS; i++)
		ratio_row(f, i, &m->ratios[i]);
}

static void show_disturbances(FILE *f, const struct measurement *m)
{
	struct disturbance *list;
	size_t count = measure_disturbances(m, &list);

	if (count)
		fprintf(f, "\n  %-16s %8s %14s %8s\n", "others that ran",
			"samples", "longest", "dropped");
	for (size_t i = 0; i < count; i++) {
		const struct disturbance *d = &list[i];

		if (i < DISTURBANCES_SHOWN || d->dropped)
			fprintf(f, "  %-16s %8zu %11.3f ms %8zu\n", d->name,
				d->samples, d->longest * 1e3, d->dropped);
	}
	if (count > DISTURBANCES_SHOWN)
		fprintf(f, "  all %zu are in the file of --json\n", count);
	free(list);
}

static void show_happened(FILE *f, const struct measurement *m)
{
	double stolen = m->after.stolen - m->before.stolen;
	uint64_t swapped = m->after.swapped - m->before.swapped;
	uint64_t throttled = m->after.throttled - m->before.throttled;

	if (stolen > 0)
		fprintf(f, "  the host took %.2f s of CPU time meanwhile\n",
			stolen);
	if (swapped)
		fprintf(f, "  %llu pages were swapped meanwhile: use less memory\n",
			(unsigned long long)swapped);
	if (throttled)
		fprintf(f, "  CPUs became too hot %llu times meanwhile, and slower\n",
			(unsigned long long)throttled);
}

static void show_samples_notes(FILE *f, const struct subject *s)
{
	size_t left = 0, lost = 0;

	for (size_t i = 0; i < s->count; i++) {
		left += s->samples[i].left;
		lost += s->samples[i].exits_lost;
		if (s->samples[i].stepped != 0)
			fprintf(f, "  the wall clock was set by %+.3f s during sample %zu: times are of a clock that cannot be set\n",
				s->samples[i].stepped, i + 1);
	}
	if (!s->emp[METRIC_ELAPSED].count)
		fprintf(f, "  %s: daemons spoiled all samples: stop them, or take more samples (--runs)\n",
			s->title);
	if (left)
		fprintf(f, "  %s left %zu process%s behind, which were killed\n",
			s->title, left, left == 1 ? "" : "es");
	if (lost)
		fprintf(f, "  in %zu sample%s more processes ended than the kernel could tell of\n",
			lost, lost == 1 ? "" : "s");
}

/* In lines that fit a terminal. */
static void show_environment(FILE *f, const struct measurement *m)
{
	const struct environment *e = &m->environment;
	size_t used = 0;

	for (size_t i = 0; i < e->count; i++) {
		const struct fact *fact = &e->facts[i];
		size_t size = strlen(fact->name) + strlen(fact->value) + 4;

		if (!i || used + size > WIDTH) {
			fputs(i ? ",\n  " : "\n  ", f);
			used = 2;
		} else {
			fputs(", ", f);
		}
		fprintf(f, "%s: %s", fact->name, fact->value);
		used += size;
	}
	fputc('\n', f);
	for (size_t i = 0; i < e->count; i++)
		if (e->facts[i].advice)
			fprintf(f, "  %s: %s\n", e->facts[i].name,
				e->facts[i].advice);
}

static void show_tuned(FILE *f, const struct measurement *m)
{
	if (m->tuned)
		fprintf(f, "  of the machine, %zu setting%s changed for this (--tune)\n",
			m->changes.count,
			m->changes.count == 1 ? " was" : "s were");
}

static void show_cutoffs(FILE *f, const struct measurement *m)
{
	if (m->cutoffs.path)
		fprintf(f, "  cutoffs of %zu daemons from %s\n",
			m->cutoffs.cutoffs.count, m->cutoffs.path);
	else
		fputs("  no cutoffs of daemons are known: no sample was dropped for one, see --cutoffs\n",
		      f);
}

static void show_clock(FILE *f, const struct measurement *m)
{
	static const char *const names[] = {
		[STOPWATCH_RAW] = "CLOCK_MONOTONIC_RAW",
		[STOPWATCH_COUNTER] = "the CPU's cycle counter",
	};

	if (m->clock != STOPWATCH_GETTIME)
		fprintf(f, "  elapsed time is by %s (--clock)\n",
			names[m->clock]);
	if (m->cold)
		fputs("  the caches of the CPUs were emptied before each run (--cold)\n",
		      f);
}

static void show_compensation(FILE *f, const struct measurement *m)
{
	size_t ticks = 0;

	for (size_t i = 0; i < m->nr_subjects; i++)
		for (size_t j = 0; j < m->subjects[i].count; j++)
			ticks += m->subjects[i].samples[j].ticks;
	if (m->compensation.tick > 0)
		fprintf(f, "  %zu timer interrupt%s of %.3f us were taken out of elapsed times (--compensate)\n",
			ticks, ticks == 1 ? "" : "s",
			m->compensation.cost * 1e6);
}

static void show_protocol(FILE *f, const struct measurement *m)
{
	const struct protocol_advice advice = protocol_advise(m);
	char *sentence;

	if (m->asked == PROTOCOL_AUTO)
		fprintf(f, "  --protocol auto took %s\n",
			protocol_name(m->protocol));
	if (!advice.id)
		return;
	sentence = protocol_advice_text(&advice);
	fprintf(f, "  %s\n", sentence);
	free(sentence);
}

int measure_text(FILE *f, const struct measurement *m)
{
	for (size_t i = 0; i < m->nr_subjects; i++) {
		if (m->protocol == PROTOCOL_KBEST)
			show_best(f, m, &m->subjects[i]);
		else
			show_subject(f, m, &m->subjects[i]);
	}
	if (m->nr_subjects == 2)
		show_ratios(f, m);
	if (m->choose_samples)
		sample_sizes_text(f, m);
	show_disturbances(f, m);
	fputc('\n', f);
	show_protocol(f, m);
	show_clock(f, m);
	show_compensation(f, m);
	if (m->degraded)
		fprintf(f, "  %s\n", m->degraded);
	if (m->protocol == PROTOCOL_EMP)
		show_cutoffs(f, m);
	for (size_t i = 0; i < m->nr_subjects; i++)
		show_samples_notes(f, &m->subjects[i]);
	show_happened(f, m);
	show_tuned(f, m);
	show_environment(f, m);
	fputc('\n', f);
	return ferror(f) ? -1 : 0;
}
