/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timer interrupts: how many came, and what one takes at least. */
#ifndef MEASURE_TICKS_H
#define MEASURE_TICKS_H

#include <stdint.h>
#include <stdio.h>

#include "counter.h"

/* Those of a CPU so far, or UINT64_MAX where the machine does not tell. */
uint64_t ticks_now(int cpu);

/* The same, of a file like /proc/interrupts. */
uint64_t ticks_read(FILE *f, int cpu);

/* The column of a CPU, by that file's first line; -1 if it has none. */
int ticks_column(char *line, int cpu);

/*
 * The least that a timer interrupt takes from a program, in ns: the shortest of
 * as many interruptions as there were ticks meanwhile, the longest of all. 0
 * where that cannot be told.
 */
double ticks_cost(const struct counter *c);

/* The n-th longest of so many, which are put in order; n counts from 1. */
double ticks_nth_longest(double *gaps, unsigned int count, unsigned int n);

#endif
