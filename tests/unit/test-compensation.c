// SPDX-License-Identifier: GPL-2.0
/* Timer interrupts that are taken out, clocks of commands, and cold caches. */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "base/util.h"
#include "measure/cold.h"
#include "measure/compensation.h"
#include "measure/stopwatch.h"
#include "tap.h"

static void test_ticks(void)
{
	struct compensation c = { 0.004, 5e-6, 1 };

	is_i64(compensation_ticks(&c, 1, 0.9999), 249,
	       "a CPU has whole ticks for as long as it is busy");
	is_i64(compensation_ticks(&c, 0.5, 1), 125,
	       "but none outside of the elapsed time");
	is_i64(compensation_ticks(&c, 10, 0.0039), 0, "less than a tick is none");
	c.cpus = 4;
	is_i64(compensation_ticks(&c, 1, 1), 62,
	       "four CPUs may share the time, and are hit at once");
	is_i64(compensation_ticks(&c, 1, 4), 250, "if all are busy, one is");
	c.tick = 0;
	is_i64(compensation_ticks(&c, 1, 1), 0, "none without compensation");
	c = (struct compensation){ 0 };
	is_i64(compensation_ticks(&c, 1, 1), 0, "nor without CPUs");
}

static void test_clock(enum stopwatch_clock clock)
{
	struct stopwatch *s = stopwatch_new(clock);
	uint64_t before, from, after, to;

	if (!s) {
		ok(clock == STOPWATCH_COUNTER, "only the counter may be missing");
		return;
	}
	/* Whatever comes in between makes the outer time longer. */
	before = now_ns();
	from = stopwatch_read(s);
	while (now_ns() - before < 50000000)
		;
	to = stopwatch_read(s);
	after = now_ns();
	ok((double)(to - from) <= (double)(after - before) * 1.01 &&
	   to - from > 0, "%s: %llu of at most %llu ns", stopwatch_name(clock),
	   (unsigned long long)(to - from),
	   (unsigned long long)(after - before));
	before = stopwatch_read(s);
	from = now_ns();
	while (now_ns() - from < 50000000)
		;
	to = now_ns();
	after = stopwatch_read(s);
	ok((double)(after - before) >= (double)(to - from) * 0.99,
	   "and not less than the time within");
	free(s);
}

static void test_cold(void)
{
	struct cold *cold = cold_new();
	cpu_set_t before, after;
	uint64_t from, first, again;
	static unsigned char memory[1 << 16];
	volatile unsigned char *p = memory;
	uint64_t sums[2] = { 0 };

	sched_getaffinity(0, sizeof(before), &before);
	cold_empty(cold);
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after), "the CPUs stay those that were allowed");
	/* The shortest of several: nothing came in between. */
	first = again = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		cold_empty(cold);
		for (int j = 0; j < 2; j++) {
			from = now_ns();
			for (size_t k = 0; k < sizeof(memory); k += 64)
				p[k]++;
			sums[j] = now_ns() - from;
		}
		first = sums[0] < first ? sums[0] : first;
		again = sums[1] < again ? sums[1] : again;
	}
	ok(first > again, "memory is read anew: %llu ns instead of %llu",
	   (unsigned long long)first, (unsigned long long)again);
	cold_free(cold);
}

int main(void)
{
	test_ticks();
	for (int i = 0; i < NR_STOPWATCH_CLOCKS; i++)
		test_clock(i);
	test_cold();
	return done();
}
