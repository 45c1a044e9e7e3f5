// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kbest.h"

#include <math.h>

void kbest_add(struct kbest *b, double time)
{
	unsigned int have = b->samples < b->k ? b->samples : b->k, at;

	b->samples++;
	for (at = have; at > 0 && b->best[at - 1] > time; at--)
		if (at < b->k)
			b->best[at] = b->best[at - 1];
	if (at < b->k)
		b->best[at] = time;
}

double kbest_spread(const struct kbest *b)
{
	double shortest = b->best[0], last = b->best[b->k - 1];

	if (b->samples < b->k)
		return INFINITY;
	return shortest > 0 ? (last - shortest) / shortest : INFINITY;
}

bool kbest_converged(const struct kbest *b)
{
	return kbest_spread(b) <= b->epsilon;
}
