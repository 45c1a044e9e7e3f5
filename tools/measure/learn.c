// SPDX-License-Identifier: GPL-2.0
#include "learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/util.h"

/* A sample that is longer by less than the shortest execution is not L. */
#define LEAST_SECONDS	0.001

/* Rounds to the digits of the tables, so that both give the same cutoffs. */
static double thousandths(double value)
{
	return round(value * 1000) / 1000;
}

static double whole_ms(uint64_t ns)
{
	return floor((double)ns / 1e6 + 0.5);
}

static void add_execution(struct runs *runs, size_t sample,
			  const char *daemon, double ms)
{
	runs->executions = xrealloc(runs->executions,
				    (runs->nr_executions + 1) *
				    sizeof(*runs->executions));
	runs->executions[runs->nr_executions++] = (struct execution){
		.sample = sample, .daemon = xstrdup(daemon), .ms = ms,
	};
}

bool learn_is_central(const struct series *series, size_t sample)
{
	return cluster_has(&series->cluster, series->samples[sample].levelled);
}

/* All times of a daemon in the central cluster; the caller frees them. */
static size_t central_times(const struct series *series,
			    const struct subject *subject, const char *daemon,
			    double **times)
{
	size_t count = 0;

	*times = NULL;
	for (size_t i = 0; i < subject->count; i++) {
		const struct activities *others = &subject->samples[i].others;

		if (!learn_is_central(series, i))
			continue;
		for (size_t j = 0; j < others->count; j++) {
			double ms = whole_ms(others->list[j].ns);

			if (!ms || strcmp(others->list[j].name, daemon) != 0)
				continue;
			*times = xrealloc(*times, (count + 1) * sizeof(**times));
			(*times)[count++] = ms;
		}
	}
	return count;
}

static void add_central(struct series *series, const struct subject *subject,
			const char *daemon)
{
	struct runs *runs = &series->runs;
	struct central central = { .daemon = xstrdup(daemon) };
	double *times;
	size_t count = central_times(series, subject, daemon, &times);

	for (size_t i = 0; i < count; i++)
		central.max = fmax(central.max, times[i]);
	if (count > 1)
		central.stddev = thousandths(emp_summary(times, NULL,
							 count).stddev);
	free(times);
	runs->central = xrealloc(runs->central, (runs->nr_central + 1) *
						sizeof(*runs->central));
	runs->central[runs->nr_central++] = central;
}

static bool is_central(const struct runs *runs, const char *daemon)
{
	for (size_t i = 0; i < runs->nr_central; i++)
		if (!strcmp(runs->central[i].daemon, daemon))
			return true;
	return false;
}

static void add_sample(struct series *series, const struct subject *subject,
		       size_t sample)
{
	const struct activities *others = &subject->samples[sample].others;
	bool central = learn_is_central(series, sample);

	for (size_t i = 0; i < others->count; i++) {
		const struct activity *a = &others->list[i];
		double ms = whole_ms(a->ns);

		if (!ms)
			continue;
		if (!central)
			add_execution(&series->runs, sample + 1, a->name, ms);
		else if (!is_central(&series->runs, a->name))
			add_central(series, subject, a->name);
	}
}

/*
 * A CPU may be slower for a while, as in a virtual machine. The same work then
 * takes more process time, and no daemon is to blame.
 */
static void level(struct series *series)
{
	double *times = xmalloc(series->count * sizeof(*times)), median;

	for (size_t i = 0; i < series->count; i++)
		times[i] = series->samples[i].process;
	median = gsl_stats_median(times, 1, series->count);
	for (size_t i = 0; i < series->count; i++) {
		struct series_sample *s = &series->samples[i];

		s->levelled = s->elapsed - s->process + median;
		times[i] = s->levelled;
	}
	series->cluster = cluster_find(times, series->count, LEAST_SECONDS);
	free(times);
}

void learn_series(struct series *series, const struct subject *subject,
		  double origin)
{
	series->count = subject->count;
	series->samples = xmalloc(subject->count * sizeof(*series->samples));
	for (size_t i = 0; i < subject->count; i++) {
		const struct sample *s = &subject->samples[i];

		series->samples[i] = (struct series_sample){
			.began = s->began - origin,
			.elapsed = s->values[METRIC_ELAPSED],
			.process = s->values[METRIC_PROCESS],
		};
	}
	level(series);
	for (size_t i = 0; i < subject->count; i++)
		add_sample(series, subject, i);
}

/* Had it a long-running execution in a sample? */
static bool ran_long(const struct runs *runs, const char *daemon, size_t sample)
{
	for (size_t i = 0; i < runs->nr_executions; i++) {
		const struct execution *e = &runs->executions[i];

		if (e->sample == sample && !strcmp(e->daemon, daemon) &&
		    cutoffs_long_running(runs, e))
			return true;
	}
	return false;
}

/* When it did: one that goes on in the next sample is one. */
static struct periodicity seen_in(const struct series *s, const char *daemon)
{
	double *times = xmalloc(s->count * sizeof(*times));
	struct periodicity seen;
	size_t count = 0, from;

	for (size_t i = 0; i < s->count; i++) {
		const struct series_sample *last;

		if (!ran_long(&s->runs, daemon, i + 1))
			continue;
		from = i;
		while (i + 1 < s->count &&
		       ran_long(&s->runs, daemon, i + 2))
			i++;
		last = &s->samples[i];
		times[count++] = (s->samples[from].began + last->began +
				  last->elapsed) / 2;
	}
	seen = periodicity_of(times, count, s->cluster.centre);
	free(times);
	return seen;
}

/* Sure, or else known more exactly, or if neither is known, by more. */
static bool is_better(const struct periodicity *a, const struct periodicity *b)
{
	if (isnan(a->period) && isnan(b->period))
		return a->occurrences > b->occurrences;
	if (periodicity_is_uncertain(a) != periodicity_is_uncertain(b))
		return periodicity_is_uncertain(b);
	return isnan(b->period) ||
	       a->error / a->period < b->error / b->period;
}

static void add_period(struct learnt *learnt, const struct cutoff *c)
{
	const struct series *series = learnt->series;
	struct periodicity of_short = seen_in(&series[TASK_SHORT], c->daemon);
	struct periodicity of_long = seen_in(&series[TASK_LONG], c->daemon);

	learnt->periods = xrealloc(learnt->periods, (learnt->nr_periods + 1) *
						    sizeof(*learnt->periods));
	learnt->periods[learnt->nr_periods++] = (struct daemon_period){
		.daemon = xstrdup(c->daemon),
		.seen = is_better(&of_long, &of_short) ? of_long : of_short,
	};
}

static double given_period(const struct periods *given, const char *daemon)
{
	for (size_t i = 0; i < given->count; i++)
		if (!strcmp(given->list[i].daemon, daemon))
			return given->list[i].seconds;
	return NAN;
}

/*
 * Prefers a given period to a learnt one. The names belong to learnt; the
 * caller frees the list.
 */
static size_t periods_that_hold(const struct learnt *learnt,
				const struct periods *given,
				struct period **list)
{
	size_t count = 0;

	*list = xmalloc(learnt->nr_periods * sizeof(**list));
	for (size_t i = 0; i < learnt->nr_periods; i++) {
		const struct daemon_period *p = &learnt->periods[i];
		double seconds = given_period(given, p->daemon);

		if (isnan(seconds) && periodicity_is_known(&p->seen))
			seconds = p->seen.period;
		if (!isnan(seconds))
			(*list)[count++] = (struct period){
				.daemon = p->daemon,
				.seconds = thousandths(seconds),
			};
	}
	return count;
}

void learn_cutoffs(struct learnt *learnt, const struct periods *given)
{
	const struct runs *of_short = &learnt->series[TASK_SHORT].runs;
	const struct runs *of_long = &learnt->series[TASK_LONG].runs;
	struct period *list;
	size_t count;

	cutoffs_compute(&learnt->cutoffs, of_short, of_long, NULL, 0);
	for (size_t i = 0; i < learnt->cutoffs.count; i++)
		add_period(learnt, &learnt->cutoffs.list[i]);
	cutoffs_free(&learnt->cutoffs);
	count = periods_that_hold(learnt, given, &list);
	cutoffs_compute(&learnt->cutoffs, of_short, of_long, list, count);
	free(list);
}

void learn_free(struct learnt *learnt)
{
	for (int i = TASK_SHORT; i <= TASK_LONG; i++) {
		runs_free(&learnt->series[i].runs);
		free(learnt->series[i].samples);
	}
	for (size_t i = 0; i < learnt->nr_periods; i++)
		free(learnt->periods[i].daemon);
	free(learnt->periods);
	cutoffs_free(&learnt->cutoffs);
}
