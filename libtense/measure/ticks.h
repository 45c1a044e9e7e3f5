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

/*
 * Returns the least time that a timer interrupt takes from a program, in ns. If n
 * ticks came meanwhile, takes the n longest interruptions and returns the
 * shortest of them. 0 if that is unknown.
 */
double ticks_cost(const struct counter *c);

/* Returns the n-th longest of so many gaps, which it sorts; n counts from 1. */
double ticks_nth_longest(double *gaps, unsigned int count, unsigned int n);

#endif
