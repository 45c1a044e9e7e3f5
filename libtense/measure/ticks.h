/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timer interrupts: their number, and the least time that one takes. */
#ifndef MEASURE_TICKS_H
#define MEASURE_TICKS_H

#include <stdint.h>
#include <stdio.h>

#include "counter.h"

/* Timer interrupts of a CPU so far; UINT64_MAX if the machine does not tell. */
uint64_t ticks_now(int cpu);

/* The same from a file like /proc/interrupts. */
uint64_t ticks_read(FILE *f, int cpu);

/* Returns the column of a CPU in the file's first line; -1 if it has none. */
int ticks_column(char *line, int cpu);

/* If this number grew, another thread took the CPU of the calling one meanwhile. */
long ticks_switches(void);

/* A time between two readings of a clock in which something else ran. */
struct ticks_gap {
	uint64_t begin;		/* since the watch began, units of the counter */
	uint64_t end;
	int switched;		/* another thread ran */
};

/* Even times, at which ticks come. In units of the counter. */
struct ticks_comb {
	double interval;
	double tolerance;	/* a tick begins at most so late */
	uint64_t length;	/* of the watch */
};

struct ticks_seen {
	double least;		/* the least time that ticks took */
	unsigned int seen;
	unsigned int visible;	/* ticks that came while the program ran */
};

/*
 * The phase at which gaps, which are in order, begin in most intervals. A tick may
 * end the thread's slice, so gaps with a switch count. Below 0 if there is none.
 */
double ticks_phase(const struct ticks_gap *gaps, unsigned int count,
		   const struct ticks_comb *comb);

/*
 * Sorts times, and returns the shortest one that two more agree with; 0 if there
 * is none. A shorter one is alone, and something else that was taken for a tick.
 */
double ticks_agreed(double *times, unsigned int count);

/*
 * Finds the shortest tick at this phase. Leaves out ticks that came with a switch,
 * or while the program did not run. 0, or -1 if too few are left, or they do not
 * agree.
 */
int ticks_count(const struct ticks_gap *gaps, unsigned int count,
		const struct ticks_comb *comb, double phase,
		struct ticks_seen *seen);

/* The interval of the kernel's tick; 0 if the kernel does not report it. */
double ticks_interval_ns(void);

/*
 * Returns the least time in ns that a timer interrupt took from the program; 0 if
 * that is unknown. It watches for 0.1 to 2 s, until the three shortest agree.
 */
double ticks_least(const struct counter *c);

/*
 * The same, an eighth less: a caller who subtracts it does not subtract too much,
 * even if the shortest interrupt did not come meanwhile.
 */
double ticks_cost(const struct counter *c);

#endif
