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
 * (K-th shortest - shortest) / shortest. Infinite if there are fewer times, or if
 * the shortest is 0 because the clock cannot tell it.
 */
double kbest_spread(const struct kbest *b);
bool kbest_converged(const struct kbest *b);

#endif
