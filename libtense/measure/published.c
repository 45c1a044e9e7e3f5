// SPDX-License-Identifier: LGPL-2.1-or-later
/* The functions of the chapter on measuring program time, by their names. */
#include "tense-measure.h"

#include <stddef.h>
#include <stdio.h>

#include "counter.h"
#include "published.h"

#define PUBLIC	__attribute__((visibility("default")))

/* Its calibration takes 20 ms, so it is done once. */
static struct counter cycles;
static uint64_t counter_began;
static uint64_t timer_began;

static const struct counter timer = { .clock = TENSE_CLOCK_GETTIME, .ns = 1 };

static const struct counter *cycle_counter(void)
{
	if (cycles.ns <= 0)
		counter_take_cycles(&cycles);
	return &cycles;
}

static double result(double cycles_passed, double *ns)
{
	if (ns)
		*ns = cycles_passed * cycle_counter()->ns;
	return cycles_passed;
}

PUBLIC void tense_start_counter(void)
{
	const struct counter *c = cycle_counter();

	counter_began = counter_read(c);
}

PUBLIC double tense_get_counter(double *ns)
{
	const struct counter *c = cycle_counter();

	return result((double)(counter_read(c) - counter_began), ns);
}

PUBLIC double tense_mhz(int verbose)
{
	double mhz = 1e3 / cycle_counter()->ns;

	if (verbose)
		printf("Processor clock rate ~= %.1f MHz\n", mhz);
	return mhz;
}

PUBLIC void tense_start_timer(void)
{
	timer_began = counter_read(&timer);
}

PUBLIC double tense_get_timer(double *ns)
{
	double passed = (double)(counter_read(&timer) - timer_began);

	if (ns)
		*ns = passed;
	return passed / 1e9;
}

PUBLIC double tense_fcyc(void (*function)(void *arg), void *arg,
			 const struct tense_kbest_options *options, double *ns)
{
	struct tense_kbest_result r;
	int err = tense_kbest(function, arg, options, &r);

	if (err)
		return err;
	if (ns)
		*ns = r.ns;
	return r.ns / cycle_counter()->ns;
}

uint64_t first_gap(uint64_t (*read)(void *arg), void *arg, uint64_t threshold,
		   uint64_t most)
{
	uint64_t began = read(arg), last = began, now = last;

	while (now - began < most) {
		now = read(arg);
		if (now - last >= threshold)
			return now - last;
		last = now;
	}
	return 0;
}

static uint64_t read_cycles(void *arg)
{
	return counter_read(arg);
}

/* A kernel without ticks may not interrupt at all. */
#define GIVE_UP_NS	10e9

PUBLIC double tense_inactiveduration(double threshold, double *ns)
{
	struct counter c = *cycle_counter();

	if (!(threshold >= 1) || threshold > GIVE_UP_NS / c.ns)
		return result(0, ns);
	return result((double)first_gap(read_cycles, &c, (uint64_t)threshold,
					(uint64_t)(GIVE_UP_NS / c.ns)), ns);
}
