/* SPDX-License-Identifier: GPL-2.0 */
/* The loop that reads the counter. */
#ifndef PERIODS_RECORD_H
#define PERIODS_RECORD_H

#include "libtense/measure/counter.h"
#include "periods.h"

/* So many inactive periods at most: memory for them is there before. */
#define RECORD_GAPS_MAX		200000

/* By default a gap is longer than so many turns of the loop. */
#define RECORD_TURNS		20

/* The counter, CPU and threshold that the recording loop uses. */
struct watcher {
	struct counter counter;
	int cpu;
	double tick_ns;		/* kernel's tick; 0: it does not tell */
	uint64_t turn;		/* the median turn of the loop */
	uint64_t look;		/* shortest reading of the switch count */
	uint64_t threshold;
};

/*
 * Pins the process to a CPU, or with -1 to its current one, and measures the
 * counter and the loop. 0, or -1 after a message.
 */
int watcher_prepare(struct watcher *w, int cpu);

/* Records for a time. The rest of the recording is to be 0. */
void watcher_record(struct watcher *w, struct recording *r, double seconds);

/* Runs until it had the CPU for so many units, and returns how long it took. */
uint64_t watcher_run(const struct watcher *w, uint64_t active);

#endif
