// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* An interruption of one batch does not reach all of them. */
#define BATCHES		20
#define BATCH_READS	100
/* Two clocks are alike if their resolutions differ by at most this factor. */
#define ALIKE		1.25
/* Two readings of the clock cause its error: 0.001 % at most. */
#define CALIBRATION_NS	20000000
#define PAIRS		20

static uint64_t read_gettime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#ifdef __x86_64__
/* Earlier instructions are complete, and later ones have not begun. */
static uint64_t read_counter(void)
{
	unsigned int cpu;
	uint64_t value;

	_mm_lfence();
	value = __rdtscp(&cpu);
	_mm_lfence();
	return value;
}

/* Whether the counter has the same rate at every frequency of the CPU. */
static bool has_counter(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) && d >> 27 & 1 &&
	       __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
}
#else
static uint64_t read_counter(void)
{
	return 0;
}

static bool has_counter(void)
{
	return false;
}
#endif

/* A pair of readings of both clocks, at the same time. */
struct both {
	uint64_t ns;
	uint64_t cycles;
};

/* Returns the closest of several pairs of readings: nothing interrupted them. */
static struct both read_both(void)
{
	struct both closest = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < PAIRS; i++) {
		uint64_t before = read_counter(), ns = read_gettime();
		uint64_t took = read_counter() - before;

		if (took >= least)
			continue;
		least = took;
		closest = (struct both){ ns, before + took / 2 };
	}
	return closest;
}

/* Returns the nanoseconds of one unit of the counter. */
static double calibrate(void)
{
	struct both from = read_both(), to;

	while (read_gettime() - from.ns < CALIBRATION_NS)
		;
	to = read_both();
	return (double)(to.ns - from.ns) / (double)(to.cycles - from.cycles);
}

static int shortest_first(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/*
 * Times by a clock with a coarse step are multiples of it. If its unit is not, they
 * are rounded and may be one unit off: such times are one cluster.
 */
double counter_step(uint64_t *times, unsigned int count, uint64_t rounding)
{
	double centre = 0, before = -1, step = 0;
	uint64_t first = 0;

	qsort(times, count, sizeof(*times), shortest_first);
	for (unsigned int i = 0; i < count; i++) {
		if (i && times[i] - times[i - 1] > rounding) {
			if (before >= 0 && (!step || centre - before < step))
				step = centre - before;
			before = centre;
		}
		if (!i || times[i] - times[i - 1] > rounding)
			first = times[i];
		/* Rounding makes no cluster so wide. */
		else if (times[i] - first > 3 * rounding)
			return (double)rounding;
		centre = (double)(first + times[i]) / 2;
	}
	if (before >= 0 && (!step || centre - before < step))
		step = centre - before;
	/* All times are alike: they are at least one step. */
	return step > 0 ? step : centre;
}

static void look(uint64_t (*read)(void), double ns, uint64_t rounding,
		 struct tense_clock_quality *q)
{
	static uint64_t times[BATCHES * BATCH_READS];
	uint64_t batch = UINT64_MAX;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t began = read(), last = began, now;

		for (int j = 0; j < BATCH_READS; j++) {
			now = read();
			times[i * BATCH_READS + j] = now - last;
			last = now;
		}
		if (last - began < batch)
			batch = last - began;
	}
	q->resolution_ns = counter_step(times, BATCHES * BATCH_READS,
					rounding) * ns;
	q->latency_ns = (double)batch / BATCH_READS * ns;
}

enum tense_clock counter_better(const struct tense_clock_quality *counter,
				const struct tense_clock_quality *gettime)
{
	double coarser = counter->resolution_ns / gettime->resolution_ns;

	if (!(counter->resolution_ns > 0) || coarser > ALIKE)
		return TENSE_CLOCK_GETTIME;
	if (coarser < 1 / ALIKE)
		return TENSE_CLOCK_COUNTER;
	return counter->latency_ns <= gettime->latency_ns ?
	       TENSE_CLOCK_COUNTER : TENSE_CLOCK_GETTIME;
}

void counter_look(struct counter *c, double ns)
{
	/* clock_gettime() rounds to nanoseconds. */
	look(read_gettime, 1, 1, &c->gettime);
	if (has_counter())
		look(read_counter, ns, 0, &c->counter);
}

void counter_choose(struct counter *c)
{
	double ns = 1;

	*c = (struct counter){ 0 };
	if (has_counter())
		ns = calibrate();
	counter_look(c, ns);
	c->clock = counter_better(&c->counter, &c->gettime);
	c->ns = c->clock == TENSE_CLOCK_COUNTER ? ns : 1;
}

void counter_take_cycles(struct counter *c)
{
	*c = (struct counter){ .clock = TENSE_CLOCK_GETTIME, .ns = 1 };
	if (!has_counter())
		return;
	c->clock = TENSE_CLOCK_COUNTER;
	c->ns = calibrate();
}

uint64_t counter_read(const struct counter *c)
{
	return c->clock == TENSE_CLOCK_COUNTER ? read_counter() :
						 read_gettime();
}
