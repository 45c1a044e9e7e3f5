/* SPDX-License-Identifier: GPL-2.0 */
/* How often something happens, from when it was seen. */
#ifndef MEASURE_PERIODICITY_H
#define MEASURE_PERIODICITY_H

#include <stdbool.h>
#include <stddef.h>

/* In the unit of the times; NAN where it cannot be told. */
struct periodicity {
	double period;
	double error;
	size_t occurrences;
};

/*
 * Finds the period of times in order, each known to half of resolution. The
 * median gap, the lower one of two, tells how many periods each gap has, since
 * some times may be missing. The period is the whole time over all periods. Its
 * error is the larger one of two: the error by the resolution, and the standard
 * error of the gaps. Two times are one gap, and its period is uncertain.
 */
struct periodicity periodicity_of(const double *times, size_t count,
				  double resolution);

/* Is it known well enough to be called a period: to a tenth? */
bool periodicity_is_known(const struct periodicity *periodicity);

/* Was it seen only twice? The period is then the only gap. */
bool periodicity_is_uncertain(const struct periodicity *periodicity);

#endif
