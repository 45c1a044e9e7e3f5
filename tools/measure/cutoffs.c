// SPDX-License-Identifier: GPL-2.0
#include "cutoffs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* A task is short if it takes less than this part of a daemon's period. */
#define LIMIT_DIVISOR	20

/* An execution is long-running beyond so many deviations over the maximum. */
#define DEVIATIONS	2

/* A sum of decimals that ends in a half may be just below it. */
static double round_half_up(double value)
{
	return floor(value + 0.5 + 1e-9);
}

static const struct central *find_central(const struct runs *runs,
					  const char *daemon)
{
	for (size_t i = 0; i < runs->nr_central; i++)
		if (!strcmp(runs->central[i].daemon, daemon))
			return &runs->central[i];
	return NULL;
}

static double central_max(const struct runs *runs, const char *daemon)
{
	const struct central *central = find_central(runs, daemon);

	return central ? central->max : 0;
}

/* The central maximum and two standard deviations; 0 if it is not central. */
static double central_limit(const struct runs *runs, const char *daemon)
{
	const struct central *central = find_central(runs, daemon);

	return central ? central->max + DEVIATIONS * central->stddev : 0;
}

bool cutoffs_long_running(const struct runs *runs,
			  const struct execution *execution)
{
	return execution->ms > central_limit(runs, execution->daemon);
}

/* The shortest of its long-running executions, or NAN. */
static double shortest_long_running(const struct runs *runs,
				    const char *daemon)
{
	double limit = central_limit(runs, daemon), shortest = NAN;

	for (size_t i = 0; i < runs->nr_executions; i++) {
		const struct execution *e = &runs->executions[i];

		if (e->ms > limit && !strcmp(e->daemon, daemon) &&
		    !(e->ms >= shortest))
			shortest = e->ms;
	}
	return shortest;
}

/* Between what it takes in the central cluster and outside, or NAN. */
static double midpoint(const struct runs *runs, const char *daemon)
{
	double shortest = shortest_long_running(runs, daemon);

	return round_half_up((central_max(runs, daemon) + shortest) / 2);
}

/* So long-running that a long task is not longer for it. */
static double beyond_central(const struct runs *runs, const char *daemon)
{
	return find_central(runs, daemon) ?
	       round_half_up(central_limit(runs, daemon)) : NAN;
}

static double limit_of(const struct period *periods, size_t count,
		       const char *daemon)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(periods[i].daemon, daemon))
			return periods[i].seconds / LIMIT_DIVISOR;
	return NAN;
}

static void finish(struct cutoff *c)
{
	/* fmax() is the other one where one of them is none. */
	double larger = fmax(c->of_short, c->of_long);
	bool by_length = !isnan(c->limit_s) && !isnan(c->of_short) &&
			 !isnan(c->of_long);

	c->final_short = by_length ? c->of_short : larger;
	c->final_long = by_length ? c->of_long : larger;
}

static void add(struct cutoffs *cutoffs, const char *daemon, double of_short,
		double of_long)
{
	if ((isnan(of_short) && isnan(of_long)) ||
	    cutoffs_find(cutoffs, daemon))
		return;
	cutoffs->list = xrealloc(cutoffs->list, (cutoffs->count + 1) *
						sizeof(*cutoffs->list));
	cutoffs->list[cutoffs->count++] = (struct cutoff){
		.daemon = daemon, .of_short = of_short, .of_long = of_long,
	};
}

static int by_name(const void *left, const void *right)
{
	const struct cutoff *a = left, *b = right;

	return strcmp(a->daemon, b->daemon);
}

void cutoffs_compute(struct cutoffs *cutoffs, const struct runs *of_short,
		     const struct runs *of_long, const struct period *periods,
		     size_t nr_periods)
{
	*cutoffs = (struct cutoffs){ 0 };
	for (size_t i = 0; i < of_short->nr_executions; i++) {
		const char *daemon = of_short->executions[i].daemon;
		double shorter = midpoint(of_short, daemon);
		double longer = midpoint(of_long, daemon);

		/* Infrequent in short runs, part of every long one. */
		if (isnan(longer) && !isnan(shorter))
			longer = beyond_central(of_long, daemon);
		add(cutoffs, daemon, shorter, longer);
	}
	for (size_t i = 0; i < of_long->nr_executions; i++) {
		const char *daemon = of_long->executions[i].daemon;

		add(cutoffs, daemon, NAN, midpoint(of_long, daemon));
	}
	for (size_t i = 0; i < cutoffs->count; i++) {
		struct cutoff *c = &cutoffs->list[i];

		c->limit_s = limit_of(periods, nr_periods, c->daemon);
		finish(c);
	}
	if (cutoffs->count)
		qsort(cutoffs->list, cutoffs->count, sizeof(*cutoffs->list),
		      by_name);
}

void cutoffs_free(struct cutoffs *cutoffs)
{
	free(cutoffs->list);
}

const struct cutoff *cutoffs_find(const struct cutoffs *cutoffs,
				  const char *daemon)
{
	for (size_t i = 0; i < cutoffs->count; i++)
		if (!strcmp(cutoffs->list[i].daemon, daemon))
			return &cutoffs->list[i];
	return NULL;
}

double cutoff_final(const struct cutoff *cutoff, enum task_length length)
{
	return length == TASK_SHORT ? cutoff->final_short : cutoff->final_long;
}

double cutoff_period(const struct cutoff *cutoff)
{
	return cutoff->limit_s * LIMIT_DIVISOR;
}

bool cutoffs_over(const struct cutoffs *cutoffs, enum task_length length,
		  const struct execution *execution)
{
	const struct cutoff *cutoff = cutoffs_find(cutoffs, execution->daemon);

	return cutoff && execution->ms > cutoff_final(cutoff, length);
}

/* How many times its cutoff, which it is over. */
static double excess(const struct cutoffs *cutoffs, enum task_length length,
		     const struct execution *execution)
{
	double final = cutoff_final(cutoffs_find(cutoffs, execution->daemon),
				    length);

	return final > 0 ? execution->ms / final : INFINITY;
}

static int by_sample(const void *left, const void *right)
{
	const struct discarded *a = left, *b = right;

	return (a->sample > b->sample) - (a->sample < b->sample);
}

static struct discarded *of_sample(struct discarded *list, size_t count,
				   uint64_t sample)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].sample == sample)
			return &list[i];
	return NULL;
}

size_t cutoffs_discard(const struct cutoffs *cutoffs, enum task_length length,
		       const struct runs *runs, struct discarded **list)
{
	struct discarded *found = xmalloc(runs->nr_executions * sizeof(*found));
	size_t count = 0;

	for (size_t i = 0; i < runs->nr_executions; i++) {
		const struct execution *e = &runs->executions[i];
		struct discarded *d;

		if (!cutoffs_over(cutoffs, length, e))
			continue;
		d = of_sample(found, count, e->sample);
		if (!d) {
			d = &found[count++];
			*d = (struct discarded){ .sample = e->sample,
						 .worst = e };
		}
		d->executions++;
		if (excess(cutoffs, length, e) >
		    excess(cutoffs, length, d->worst))
			d->worst = e;
	}
	qsort(found, count, sizeof(*found), by_sample);
	*list = found;
	return count;
}
