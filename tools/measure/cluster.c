// SPDX-License-Identifier: GPL-2.0
#include "cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort_double.h>

#include "base/util.h"

/* Rejects one normal value of some 4000. */
#define DEVIATIONS	3.5

/* Half of normal values are within so many deviations of their mean. */
#define HALF_OF_NORMAL	0.6745

/* Rousseeuw's correction: half of few values are closer together than that. */
static double of_few(size_t count)
{
	return count > 1 ? 1 + 5 / ((double)count - 1) : 1;
}

struct cluster cluster_find(const double *values, size_t count, double least)
{
	double *sorted = xmalloc(count * sizeof(*sorted)), width;
	size_t half = count / 2 + 1, from = 0;
	struct cluster c;

	memcpy(sorted, values, count * sizeof(*sorted));
	gsl_sort(sorted, 1, count);
	if (half > count)
		half = count;
	for (size_t i = 1; i + half <= count; i++)
		if (sorted[i + half - 1] - sorted[i] <
		    sorted[from + half - 1] - sorted[from])
			from = i;
	width = sorted[from + half - 1] - sorted[from];
	c.centre = sorted[from] + width / 2;
	c.deviation = width / 2 / HALF_OF_NORMAL * of_few(count);
	c.bound = c.centre + fmax(DEVIATIONS * c.deviation, least);
	free(sorted);
	return c;
}

bool cluster_has(const struct cluster *cluster, double value)
{
	return value <= cluster->bound;
}
