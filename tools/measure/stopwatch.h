/* SPDX-License-Identifier: GPL-2.0 */
/* The clocks that can time a command. */
#ifndef MEASURE_STOPWATCH_H
#define MEASURE_STOPWATCH_H

#include <stdint.h>

enum stopwatch_clock {
	STOPWATCH_GETTIME,	/* CLOCK_MONOTONIC */
	STOPWATCH_RAW,		/* CLOCK_MONOTONIC_RAW: nobody corrects its rate */
	STOPWATCH_COUNTER,	/* the CPU's cycle counter */
	NR_STOPWATCH_CLOCKS
};

struct stopwatch;

/* The name that --clock takes, and JSON has. */
const char *stopwatch_name(enum stopwatch_clock clock);

/* Returns NULL if this machine lacks the clock. The caller frees the result. */
struct stopwatch *stopwatch_new(enum stopwatch_clock clock);

/* Returns the ns since a fixed time. NULL reads CLOCK_MONOTONIC. */
uint64_t stopwatch_read(const struct stopwatch *s);

#endif
