// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counter.h"

#include <stdbool.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

/* An interruption of one batch does not reach all of them. */
#define BATCHES		20
#define BATCH_READS	100
/* Two readings of the clock cause its error: 0.001 % at most. */
#define CALIBRATION_NS	20000000

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

/* Returns the nanoseconds of one unit of the counter. */
static double calibrate(void)
{
	uint64_t began = read_gettime(), from = read_counter(), now;

	do
		now = read_gettime();
	while (now - began < CALIBRATION_NS);
	return (double)(now - began) / (double)(read_counter() - from);
}

static void look(uint64_t (*read)(void), double ns,
		 struct tense_clock_quality *q)
{
	uint64_t shortest = UINT64_MAX, batch = UINT64_MAX;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t began = read(), last = began, now;

		for (int j = 0; j < BATCH_READS; j++) {
			now = read();
			if (now > last && now - last < shortest)
				shortest = now - last;
			last = now;
		}
		if (last - began < batch)
			batch = last - began;
	}
	q->resolution_ns = (double)shortest * ns;
	q->latency_ns = (double)batch / BATCH_READS * ns;
}

enum tense_clock counter_better(const struct tense_clock_quality *counter,
				const struct tense_clock_quality *gettime)
{
	bool exists = counter->resolution_ns > 0;

	if (!exists || counter->resolution_ns > gettime->resolution_ns)
		return TENSE_CLOCK_GETTIME;
	if (counter->resolution_ns < gettime->resolution_ns)
		return TENSE_CLOCK_COUNTER;
	return counter->latency_ns <= gettime->latency_ns ?
	       TENSE_CLOCK_COUNTER : TENSE_CLOCK_GETTIME;
}

void counter_choose(struct counter *c)
{
	double ns = 1;

	*c = (struct counter){ 0 };
	look(read_gettime, 1, &c->gettime);
	if (has_counter()) {
		ns = calibrate();
		look(read_counter, ns, &c->counter);
	}
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
