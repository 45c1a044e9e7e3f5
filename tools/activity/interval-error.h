/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The errors of clocks on computations of known length. A computation runs
 * until it had the CPU for that long by the cycle counter, even if others had
 * it in between.
 */
#ifndef PERIODS_INTERVAL_ERROR_H
#define PERIODS_INTERVAL_ERROR_H

#include <stddef.h>

#include "record.h"

/* Clocks that are held against it. */
enum timed_by {
	BY_TICKS,	/* times(2): user and system, in ticks of its own */
	BY_USER,	/* getrusage(2): user; the kernel splits by its ticks */
	BY_PROCESS,	/* clock_gettime(CLOCK_PROCESS_CPUTIME_ID) */
	BY_COUNTER,	/* the cycle counter from beginning to end */
	NR_TIMED_BY,
};

struct error_sample {
	unsigned int load;
	double expected_ns;
	double measured_ns[NR_TIMED_BY];
};

struct error_samples {
	struct error_sample *list;
	size_t count;
};

/* The errors of all samples that have the same length and load. */
struct error_row {
	unsigned int load;
	double expected_ns;
	size_t samples;
	double mean_ns[NR_TIMED_BY];	/* mean of measured - expected */
	double worst_ns[NR_TIMED_BY];	/* the error furthest from 0 */
};

/* Rows in the order in which they came; the caller frees them. */
size_t error_rows(const struct error_samples *all, struct error_row **rows);

/* 1, 2 and 5 times a power of ten, in ms, up to longest; at most so many. */
size_t error_lengths(double longest_ms, double *lengths, size_t most);

/*
 * Runs computations of 1 ms to longest, each so often, beside the current load.
 * Adds the times by each clock.
 */
void error_measure(struct error_samples *all, const struct watcher *w,
		   unsigned int load, double longest_ms, size_t often);

const char *timed_by_name(enum timed_by by);
const char *timed_by_key(enum timed_by by);

#endif
