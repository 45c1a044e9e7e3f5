/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clocks of short times, and which of them is better. */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H

#include <stdint.h>

#include "tense-measure.h"

struct counter {
	enum tense_clock clock;
	double ns;		/* of one unit */
	struct tense_clock_quality counter;
	struct tense_clock_quality gettime;
};

/* Looks at both, and takes the one that tells shorter times. */
void counter_choose(struct counter *c);

/* The CPU's own, if it has one whose rate never changes, else clock_gettime(). */
void counter_take_cycles(struct counter *c);

uint64_t counter_read(const struct counter *c);

/* By resolution first, then by latency. */
enum tense_clock counter_better(const struct tense_clock_quality *counter,
				const struct tense_clock_quality *gettime);

#endif
