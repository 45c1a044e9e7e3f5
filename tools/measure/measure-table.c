// SPDX-License-Identifier: GPL-2.0
/* Tables for programs and for documents. */
#include <math.h>

#include "csv.h"
#include "measure-output.h"

static void value(FILE *f, double number)
{
	fputc(',', f);
	if (isfinite(number))
		fprintf(f, "%.9g", number);
}

static int best_csv(FILE *f, const struct measurement *m)
{
	fputs("command,metric,unit,samples,best,spread,converged\n", f);
	for (size_t i = 0; i < m->nr_subjects; i++) {
		const struct subject *s = &m->subjects[i];

		for (int j = 0; j < NR_BEST; j++) {
			csv_put(f, s->title);
			fprintf(f, ",%s,s,%zu", metric_name(j), s->count);
			value(f, s->best[j].best[0]);
			value(f, kbest_spread(&s->best[j]));
			fprintf(f, ",%d\n", kbest_converged(&s->best[j]));
		}
	}
	return ferror(f) ? -1 : 0;
}

/* The ratio of the second command to the first, in the lines of the second. */
static void ratio_csv(FILE *f, const struct measurement *m,
		      const struct subject *s, enum metric metric)
{
	const struct ratio *r = &m->ratios[metric];

	if (s == m->subjects) {
		fputs(",,,,", f);
		return;
	}
	value(f, r->ratio);
	value(f, r->low);
	value(f, r->high);
	fprintf(f, ",%s", verdict_name(r->verdict));
}

static void csv_row(FILE *f, const struct measurement *m,
		    const struct subject *s, enum metric metric)
{
	const struct summary *all = &s->all[metric], *emp = &s->emp[metric];

	csv_put(f, s->title);
	fprintf(f, ",%s,%s,%zu", metric_name(metric),
		metric == METRIC_REFERENCE ? "loops" : "s", all->count);
	value(f, all->mean);
	value(f, all->stddev);
	fprintf(f, ",%zu", emp->count);
	value(f, emp->mean);
	value(f, emp->stddev);
	value(f, emp->low);
	value(f, emp->high);
	ratio_csv(f, m, s, metric);
	value(f, all->min);
	value(f, all->max);
	value(f, emp->min);
	value(f, emp->max);
	fputc('\n', f);
}

int measure_csv(FILE *f, const struct measurement *m)
{
	if (m->protocol == PROTOCOL_KBEST)
		return best_csv(f, m);

	fputs("command,metric,unit,samples,mean_all,stddev_all,kept,mean,stddev,low,high,ratio,ratio_low,ratio_high,verdict,min_all,max_all,min,max\n",
	      f);
	for (size_t i = 0; i < m->nr_subjects; i++)
		for (int j = 0; j < NR_METRICS; j++)
			csv_row(f, m, &m->subjects[i], j);
	return ferror(f) ? -1 : 0;
}

/* A bar would end the cell. */
static void cell(FILE *f, const char *text)
{
	fputs("| `", f);
	for (; *text; text++) {
		if (*text == '|')
			fputc('\\', f);
		fputc(*text == '\n' ? ' ' : *text, f);
	}
	fputs("` ", f);
}

static int best_markdown(FILE *f, const struct measurement *m,
			 struct scale scale)
{
	fprintf(f, "| command | metric | samples | shortest, %s | converged |\n|---|---|---|---|---|\n",
		scale.unit);
	for (size_t i = 0; i < m->nr_subjects; i++) {
		const struct subject *s = &m->subjects[i];

		for (int j = 0; j < NR_BEST; j++) {
			cell(f, s->title);
			fprintf(f, "| %s | %zu | %.4f | %s |\n", metric_name(j),
				s->count, s->best[j].best[0] * scale.factor,
				kbest_converged(&s->best[j]) ? "yes" : "no");
		}
	}
	return ferror(f) ? -1 : 0;
}

static void markdown_row(FILE *f, const struct measurement *m,
			 const struct subject *s, enum metric metric)
{
	const struct summary *emp = &s->emp[metric];
	double factor = scale_of(m->subjects[0].all[METRIC_ELAPSED].mean).factor;

	if (metric == METRIC_REFERENCE)
		factor *= measure_loop(m);
	cell(f, s->title);
	fprintf(f, "| %s | %zu of %zu ", metric_name(metric), emp->count,
		s->all[metric].count);
	if (emp->count)
		fprintf(f, "| %.4f ", emp->mean * factor);
	else
		fputs("| - ", f);
	if (emp->count > 1)
		fprintf(f, "| %.4f to %.4f | %.2f %% |\n", emp->low * factor,
			emp->high * factor, emp->stddev / emp->mean * 100);
	else
		fputs("| - | - |\n", f);
}

static void ratio_row(FILE *f, const struct measurement *m, enum metric metric)
{
	const struct ratio *r = &m->ratios[metric];

	cell(f, m->subjects[1].title);
	cell(f, m->subjects[0].title);
	fprintf(f, "| %s ", metric_name(metric));
	if (r->count)
		fprintf(f, "| %.4f ", r->ratio);
	else
		fputs("| - ", f);
	if (r->verdict != EMP_UNKNOWN)
		fprintf(f, "| %.4f to %.4f ", r->low, r->high);
	else
		fputs("| - ", f);
	fprintf(f, "| %s |\n", verdict_name(r->verdict));
}

static void ratios_markdown(FILE *f, const struct measurement *m)
{
	fputs("\n| command | over | metric | ratio | 95 % interval | verdict |\n|---|---|---|---|---|---|\n",
	      f);
	for (int i = 0; i < NR_METRICS; i++)
		ratio_row(f, m, i);
}

int measure_markdown(FILE *f, const struct measurement *m)
{
	struct scale scale = scale_of(m->subjects[0].all[METRIC_ELAPSED].mean);

	if (m->protocol == PROTOCOL_KBEST)
		return best_markdown(f, m, scale);
	fprintf(f, "| command | metric | kept | mean, %s | 95 %% interval | deviation |\n|---|---|---|---|---|---|\n",
		scale.unit);
	for (size_t i = 0; i < m->nr_subjects; i++)
		for (int j = 0; j < NR_METRICS; j++)
			markdown_row(f, m, &m->subjects[i], j);
	if (m->nr_subjects == 2)
		ratios_markdown(f, m);
	return ferror(f) ? -1 : 0;
}
