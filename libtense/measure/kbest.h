/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The K shortest of many times, and whether they agree. */
#ifndef MEASURE_KBEST_H
#define MEASURE_KBEST_H

#include <stdbool.h>

#define KBEST_MAX	64

struct kbest {
	unsigned int k;		/* 1 to KBEST_MAX */
	double epsilon;
	unsigned int samples;
	double best[KBEST_MAX];	/* the shortest first */
};

void kbest_add(struct kbest *b, double time);

/*
 * (the K-th - the shortest) / the shortest; infinite if there are fewer, or the
 * shortest is 0, which is less than the clock can tell.
 */
double kbest_spread(const struct kbest *b);
bool kbest_converged(const struct kbest *b);

#endif
