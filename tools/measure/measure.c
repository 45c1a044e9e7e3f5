// SPDX-License-Identifier: GPL-2.0
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "base/util.h"

const char *metric_name(enum metric metric)
{
	static const char *const names[] = {
		[METRIC_ELAPSED] = "elapsed time",
		[METRIC_PROCESS] = "process time",
		[METRIC_REFERENCE] = "by reference loop",
	};

	return names[metric];
}

const char *metric_key(enum metric metric)
{
	static const char *const keys[] = {
		[METRIC_ELAPSED] = "elapsed_s", [METRIC_PROCESS] = "process_s",
		[METRIC_REFERENCE] = "process_loops",
	};

	return keys[metric];
}

static double median(double *values, size_t count)
{
	gsl_sort(values, 1, count);
	return gsl_stats_median_from_sorted_data(values, 1, count);
}

double measure_loop(const struct measurement *m)
{
	size_t count = 0;
	double *loops, middle;

	for (size_t i = 0; i < m->nr_subjects; i++)
		count += m->subjects[i].count;
	loops = xmalloc(count * sizeof(*loops));
	count = 0;
	for (size_t i = 0; i < m->nr_subjects; i++)
		for (size_t j = 0; j < m->subjects[i].count; j++)
			loops[count++] = m->subjects[i].samples[j].loop;
	middle = median(loops, count);
	free(loops);
	return middle;
}

double measure_task_time(const struct subject *subject)
{
	double shortest = INFINITY;

	for (size_t i = 0; i < subject->count; i++)
		shortest = fmin(shortest,
				subject->samples[i].values[METRIC_ELAPSED]);
	return shortest;
}

/* By the one that is over its cutoff by the largest factor. */
static void decide(const struct cutoff_store *cutoffs, double seconds,
		   struct sample *sample)
{
	double worst = 0;

	sample->fate = SAMPLE_KEPT;
	for (size_t i = 0; i < sample->others.count; i++) {
		const struct activity *a = &sample->others.list[i];
		double cutoff = cutoff_for(cutoffs, a->name, seconds);
		double ms = (double)a->ns / 1e6;
		double excess = cutoff > 0 ? ms / cutoff : INFINITY;

		if (!(ms > cutoff) || excess <= worst)
			continue;
		worst = excess;
		sample->fate = SAMPLE_DAEMON;
		sample->by = i;
	}
}

static double *column(const struct subject *subject, enum metric metric)
{
	double *values = xmalloc(subject->count * sizeof(*values));

	for (size_t i = 0; i < subject->count; i++)
		values[i] = subject->samples[i].values[metric];
	return values;
}

static void assess_metric(struct subject *subject, enum metric metric)
{
	double *values = column(subject, metric);
	bool *kept = xmalloc(subject->count * sizeof(*kept));

	for (size_t i = 0; i < subject->count; i++)
		kept[i] = subject->samples[i].fate == SAMPLE_KEPT;
	subject->all[metric] = emp_positive(emp_summary(values, NULL,
							subject->count));
	subject->emp[metric] = emp_positive(emp_two_sigma(values, kept,
							  subject->count));
	free(subject->kept[metric]);
	subject->kept[metric] = kept;
	free(values);
}

static void assess_reference(struct subject *subject)
{
	double *reference = column(subject, METRIC_REFERENCE);
	double *process = column(subject, METRIC_PROCESS);
	bool *kept = xmalloc(subject->count * sizeof(*kept));

	for (size_t i = 0; i < subject->count; i++)
		kept[i] = subject->kept[METRIC_REFERENCE][i] &&
			  subject->kept[METRIC_PROCESS][i];
	subject->reference_better = emp_less_spread(reference, process, kept,
						    subject->count);
	free(reference);
	free(process);
	free(kept);
}

static void assess_subject(const struct measurement *m,
			   struct subject *subject)
{
	double seconds = measure_task_time(subject);

	for (size_t i = 0; i < subject->count; i++) {
		struct sample *s = &subject->samples[i];

		s->values[METRIC_REFERENCE] = s->values[METRIC_PROCESS] /
					      s->loop;
		decide(&m->cutoffs, seconds, s);
	}
	for (int i = 0; i < NR_METRICS; i++)
		assess_metric(subject, i);
	assess_reference(subject);
}

static void compare(struct measurement *m, enum metric metric)
{
	const struct subject *a = &m->subjects[0], *b = &m->subjects[1];
	double *of_a = column(a, metric), *of_b = column(b, metric);
	bool *kept = xmalloc(a->count * sizeof(*kept));

	for (size_t i = 0; i < a->count; i++)
		kept[i] = a->samples[i].fate == SAMPLE_KEPT &&
			  b->samples[i].fate == SAMPLE_KEPT;
	m->ratios[metric] = emp_ratio(of_a, of_b, kept, a->count);
	free(of_a);
	free(of_b);
	free(kept);
}

void measure_assess(struct measurement *m)
{
	for (size_t i = 0; i < m->nr_subjects; i++)
		assess_subject(m, &m->subjects[i]);
	for (int i = 0; i < NR_METRICS && m->nr_subjects == 2; i++)
		compare(m, i);
}

void measure_free(struct measurement *m)
{
	for (size_t i = 0; i < m->nr_subjects; i++) {
		struct subject *s = &m->subjects[i];

		for (size_t j = 0; j < s->count; j++)
			activities_free(&s->samples[j].others);
		for (int j = 0; j < NR_METRICS; j++)
			free(s->kept[j]);
		free(s->samples);
		free(s->title);
		free(s->argv);
		free(s->words);
	}
	free(m->subjects);
	free(m->degraded);
	cutoffs_unload(&m->cutoffs);
	environment_free(&m->environment);
}

static struct disturbance *of_name(struct disturbance **list, size_t *count,
				   const char *name)
{
	struct disturbance *d;

	for (size_t i = 0; i < *count; i++)
		if (!strcmp((*list)[i].name, name))
			return &(*list)[i];
	*list = xrealloc(*list, (*count + 1) * sizeof(**list));
	d = &(*list)[(*count)++];
	*d = (struct disturbance){ 0 };
	memcpy(d->name, name, sizeof(d->name));
	return d;
}

/* Is it the first of its name in a sample? There can be several processes. */
static bool is_first(const struct activities *others, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(others->list[j].name, others->list[i].name))
			return false;
	return true;
}

static void add_sample(struct disturbance **list, size_t *count,
		       const struct sample *sample)
{
	for (size_t i = 0; i < sample->others.count; i++) {
		const struct activity *a = &sample->others.list[i];
		struct disturbance *d = of_name(list, count, a->name);
		double seconds = (double)a->ns / 1e9;

		d->samples += is_first(&sample->others, i);
		d->longest = fmax(d->longest, seconds);
		d->total += seconds;
		d->dropped += sample->fate == SAMPLE_DAEMON && sample->by == i;
	}
}

static int longest_first(const void *left, const void *right)
{
	const struct disturbance *a = left, *b = right;

	if (a->longest != b->longest)
		return a->longest < b->longest ? 1 : -1;
	return strcmp(a->name, b->name);
}

size_t measure_disturbances(const struct measurement *m,
			    struct disturbance **list)
{
	size_t count = 0;

	*list = NULL;
	for (size_t i = 0; i < m->nr_subjects; i++)
		for (size_t j = 0; j < m->subjects[i].count; j++)
			add_sample(list, &count, &m->subjects[i].samples[j]);
	if (count)
		qsort(*list, count, sizeof(**list), longest_first);
	return count;
}

static double time_of_name(const struct sample *sample, const char *name)
{
	double seconds = 0;

	for (size_t i = 0; i < sample->others.count; i++)
		if (!strcmp(sample->others.list[i].name, name))
			seconds += (double)sample->others.list[i].ns / 1e9;
	return seconds;
}

/* The daemon's CPU time in a sample beyond the median of the other samples. */
static double excess_of_name(const struct subject *subject, size_t sample,
			     const char *name)
{
	double *elsewhere = xmalloc(subject->count * sizeof(*elsewhere));
	double excess = time_of_name(&subject->samples[sample], name);
	size_t count = 0;

	for (size_t i = 0; i < subject->count; i++)
		if (i != sample)
			elsewhere[count++] =
				time_of_name(&subject->samples[i], name);
	if (count)
		excess -= median(elsewhere, count);
	free(elsewhere);
	return excess;
}

const struct activity *measure_suspect(const struct subject *subject,
				       size_t sample, enum metric metric)
{
	const struct sample *s = &subject->samples[sample];
	double most = (s->values[metric] - subject->emp[metric].mean) / 2;
	const struct activity *suspect = NULL;

	if (subject->kept[metric][sample] || !(most > 0))
		return NULL;
	for (size_t i = 0; i < s->others.count; i++) {
		double excess = excess_of_name(subject, sample,
					       s->others.list[i].name);

		if (excess < most)
			continue;
		most = excess;
		suspect = &s->others.list[i];
	}
	return suspect;
}
