/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clocks for short times, and the choice of the better one. */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H

#include <stdint.h>

#include "tense-measure.h"

struct counter {
	enum tense_clock clock;
	double ns;		/* ns of one unit */
	struct tense_clock_quality counter;
	struct tense_clock_quality gettime;
};

/* Measures both clocks and takes the one that tells shorter times. */
void counter_choose(struct counter *c);

/* Takes the CPU's own counter if its rate never changes, else clock_gettime(). */
void counter_take_cycles(struct counter *c);

/* Measures resolution and latency of both clocks; ns of one unit of the counter. */
void counter_look(struct counter *c, double ns);

/*
 * The smallest step of a clock that told these times, which are sorted. Each may be
 * rounded by so much.
 */
double counter_step(uint64_t *times, unsigned int count, uint64_t rounding);

uint64_t counter_read(const struct counter *c);

/* Compares the resolution first, and if it is alike, the latency. */
enum tense_clock counter_better(const struct tense_clock_quality *counter,
				const struct tense_clock_quality *gettime);

#endif
