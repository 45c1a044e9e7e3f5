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
 * Of times in order, each known to half of resolution. The median gap between
 * two of them, the lower one of two, tells how many periods each gap is, since
 * some may not have been seen; the period is the whole time over all periods.
 * Its error is the larger one of what the resolution makes and the standard
 * error of the gaps. At least three times are needed.
 */
struct periodicity periodicity_of(const double *times, size_t count,
				  double resolution);

/* Is it known well enough to be called a period: to a tenth? */
bool periodicity_is_known(const struct periodicity *periodicity);

#endif
