/* SPDX-License-Identifier: GPL-2.0 */
/* Where most of a program's times lie, and which are too long to be of them. */
#ifndef MEASURE_CLUSTER_H
#define MEASURE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

/* In the unit of the values. */
struct cluster {
	double centre;
	double deviation;	/* standard deviation of what is in the cluster */
	double bound;		/* a longer sample is an L-sample */
};

/*
 * By the shortest interval that holds half of the values: its middle is the
 * centre, and tells the deviation as if what is in the cluster scattered
 * normally. So up to half of the values can be L-samples and do not move it.
 * Beyond the centre are 3.5 deviations, and at least least, still of the
 * cluster; on its other side all are. There must be a value.
 */
struct cluster cluster_find(const double *values, size_t count, double least);

bool cluster_has(const struct cluster *cluster, double value);

#endif
