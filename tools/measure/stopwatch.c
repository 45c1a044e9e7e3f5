// SPDX-License-Identifier: GPL-2.0
#include "stopwatch.h"

#include <stdlib.h>
#include <time.h>

#include "base/util.h"
#include "libtense/measure/counter.h"

struct stopwatch {
	enum stopwatch_clock clock;
	struct counter counter;
	uint64_t base;		/* subtracted to keep products exact */
};

const char *stopwatch_name(enum stopwatch_clock clock)
{
	static const char *const names[] = {
		[STOPWATCH_GETTIME] = "gettime", [STOPWATCH_RAW] = "raw",
		[STOPWATCH_COUNTER] = "counter",
	};

	return names[clock];
}

struct stopwatch *stopwatch_new(enum stopwatch_clock clock)
{
	struct stopwatch *s = xmalloc(sizeof(*s));

	*s = (struct stopwatch){ .clock = clock };
	if (clock != STOPWATCH_COUNTER)
		return s;
	counter_take_cycles(&s->counter);
	if (s->counter.clock == TENSE_CLOCK_COUNTER) {
		s->base = counter_read(&s->counter);
		return s;
	}
	free(s);
	return NULL;
}

uint64_t stopwatch_read(const struct stopwatch *s)
{
	struct timespec ts;

	if (!s || s->clock == STOPWATCH_GETTIME)
		return now_ns();
	if (s->clock == STOPWATCH_COUNTER)
		return (uint64_t)((double)(counter_read(&s->counter) -
					   s->base) * s->counter.ns);
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}
