// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "../sim/rng.h"
#include "queue.h"

/* Exponential of mean 1. */
static double exponential(struct rng *rng)
{
	return -log1p(-(double)(rng_next(rng) >> 11) / (1ull << 53));
}

/* How long a job of mean size takes, by its turn. */
static double length_of(const struct queue_system *s, size_t turn)
{
	double length = s->service;

	length *= 100.0 / s->really.percent[turn % s->really.count];
	if (s->imagined.count)
		length *= 100.0 / s->imagined.percent[turn % s->imagined.count];
	return length;
}

/* The mean of that over the turns of both lists. */
static double mean_length(const struct queue_system *s)
{
	size_t turns = s->really.count;
	double sum = 0;

	if (s->imagined.count)
		turns *= s->imagined.count;
	for (size_t i = 0; i < turns; i++)
		sum += length_of(s, i);
	return sum / turns;
}

double queue_formula(const struct queue_system *s, double utilisation)
{
	double mean = mean_length(s), square = mean * mean;

	if (s->really.count > 1 || s->imagined.count > 1)
		return NAN;
	if (s->exponential)
		square *= 2;
	return utilisation / mean * square / (2 * (1 - utilisation));
}

/* One server, first come first served: Lindley's recursion. */
void queue_judge(struct queue_job *jobs, size_t count)
{
	double ideal = 0, own = 0;

	for (size_t i = 0; i < count; i++) {
		struct queue_job *job = &jobs[i];

		job->ideal = fmax(0, ideal - job->due);
		job->own = fmax(0, own - job->due);
		ideal = job->due + job->ideal + job->length;
		own = job->due + job->own + job->served;
	}
}

void queue_plan(const struct queue_system *s, double utilisation, uint64_t seed,
		struct queue_job *jobs, size_t count)
{
	/* Apart from each other: arrivals do not depend on the lengths. */
	struct rng gaps = { seed }, sizes = { ~seed };
	double gap = mean_length(s) / utilisation, due = 0;

	for (size_t i = 0; i < count; i++) {
		double size = s->exponential ? exponential(&sizes) : 1;

		due += gap * exponential(&gaps);
		jobs[i] = (struct queue_job) {
			.due = due,
			.work = size * s->service * 100 /
				s->really.percent[i % s->really.count],
			.length = size * length_of(s, i),
		};
	}
}
