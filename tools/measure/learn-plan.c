// SPDX-License-Identifier: GPL-2.0
#include "learn-plan.h"

#include <math.h>

#include "cutoffs.h"

#define DEFAULT_SECONDS		1200
#define SHORT_SECONDS		1
#define SHORT_SAMPLES		300
#define LONG_SAMPLES		30

/* Length of a long task over that of a short one, if the user does not give it. */
#define FACTOR_MOST		128
#define FACTOR_GOOD		10
#define FACTOR_LEAST		2

/* Images of the machine and reference loops add about this to a sample. */
#define OVERHEAD_SHARE		0.06
#define OVERHEAD_SECONDS	0.05

static double cost(double length)
{
	return length * (1 + OVERHEAD_SHARE) + OVERHEAD_SECONDS;
}

static double length_for(double seconds)
{
	return (seconds - OVERHEAD_SECONDS) / (1 + OVERHEAD_SHARE);
}

/* Returns the number of samples that fit: at least the least, at most the useful. */
static size_t fit(double seconds, double each, size_t most)
{
	double count = floor(seconds / each);

	return count < LEARN_LEAST_SAMPLES ? LEARN_LEAST_SAMPLES :
	       count < (double)most ? (size_t)count : most;
}

/* The least time for long tasks. */
static double least_long(const struct learn_plan *p)
{
	double length = p->length[TASK_LONG];
	size_t samples = p->samples[TASK_LONG];

	if (p->short_only)
		return 0;
	return cost(length > 0 ? length :
		    FACTOR_LEAST * p->length[TASK_SHORT]) *
	       (double)(samples ? samples : LEARN_LEAST_SAMPLES);
}

/* Short tasks take a third of the time, if long ones can do with the rest. */
static void plan_short(struct learn_plan *p)
{
	double each = cost(p->length[TASK_SHORT]), seconds = p->time;

	if (p->samples[TASK_SHORT])
		return;
	if (!p->short_only)
		seconds = fmin(seconds / 3, seconds - least_long(p));
	p->samples[TASK_SHORT] = p->time > 0 ?
				 fit(seconds, each, SHORT_SAMPLES) :
				 SHORT_SAMPLES;
}

static void plan_long_length(struct learn_plan *p, double seconds)
{
	double unit = p->length[TASK_SHORT];
	size_t samples = p->samples[TASK_LONG] ? p->samples[TASK_LONG] :
						 LONG_SAMPLES;
	double length = length_for(seconds / (double)samples);

	if (!p->samples[TASK_LONG] && length < FACTOR_GOOD * unit) {
		samples = fit(seconds, cost(FACTOR_GOOD * unit), LONG_SAMPLES);
		length = length_for(seconds / (double)samples);
	}
	p->samples[TASK_LONG] = samples;
	p->length[TASK_LONG] = fmin(length, FACTOR_MOST * unit);
}

static void plan_long(struct learn_plan *p, double seconds)
{
	if (p->length[TASK_LONG] <= 0)
		plan_long_length(p, seconds);
	else if (!p->samples[TASK_LONG])
		p->samples[TASK_LONG] = p->time > 0 ?
			fit(seconds, cost(p->length[TASK_LONG]), LONG_SAMPLES) :
			LONG_SAMPLES;
}

/* The least time; samples that the user asked for may take more. */
static double least(const struct learn_plan *p)
{
	return cost(p->length[TASK_SHORT]) * LEARN_LEAST_SAMPLES +
	       least_long(p);
}

double learn_plan_complete(struct learn_plan *p)
{
	double taken, rest;

	if (p->length[TASK_SHORT] <= 0)
		p->length[TASK_SHORT] = SHORT_SECONDS;
	if (p->time > 0 && p->time < least(p))
		return least(p);
	plan_short(p);
	taken = cost(p->length[TASK_SHORT]) * (double)p->samples[TASK_SHORT];
	p->seconds[TASK_SHORT] = taken;
	if (p->short_only)
		return 0;
	rest = p->time > 0 ? fmax(p->time - taken, least_long(p)) :
			     fmax(DEFAULT_SECONDS - taken, 2 * taken);
	plan_long(p, rest);
	p->seconds[TASK_LONG] = cost(p->length[TASK_LONG]) *
				(double)p->samples[TASK_LONG];
	return 0;
}
