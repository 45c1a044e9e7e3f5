// SPDX-License-Identifier: GPL-2.0
#include "periodicity.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_sort_double.h>

#include "base/util.h"
#include "emp.h"

#define LEAST_OCCURRENCES	2
/* One gap alone may be a chance, or several periods. */
#define SURE_OCCURRENCES	3
#define MOST_ERROR		0.1

static double lower_median(const double *values, size_t count)
{
	double *sorted = xmalloc(count * sizeof(*sorted)), median;

	for (size_t i = 0; i < count; i++)
		sorted[i] = values[i];
	gsl_sort(sorted, 1, count);
	median = sorted[(count - 1) / 2];
	free(sorted);
	return median;
}

/* Makes periods of gaps, and returns how many there are in all. */
static double divide(double *gaps, size_t count)
{
	double median = lower_median(gaps, count), sum = 0;

	for (size_t i = 0; i < count; i++) {
		double periods = fmax(1, round(gaps[i] / median));

		gaps[i] /= periods;
		sum += periods;
	}
	return sum;
}

struct periodicity periodicity_of(const double *times, size_t count,
				  double resolution)
{
	struct periodicity p = { .period = NAN, .error = NAN,
				 .occurrences = count };
	size_t nr_gaps = count - 1;
	struct summary scatter;
	double *gaps, periods;

	if (count < LEAST_OCCURRENCES)
		return p;
	gaps = xmalloc(nr_gaps * sizeof(*gaps));
	for (size_t i = 0; i < nr_gaps; i++)
		gaps[i] = times[i + 1] - times[i];
	periods = divide(gaps, nr_gaps);
	scatter = emp_summary(gaps, NULL, nr_gaps);
	p.period = (times[count - 1] - times[0]) / periods;
	/* fmax() takes the resolution if one gap has no deviation. */
	p.error = fmax(resolution / periods,
		       scatter.stddev / sqrt((double)nr_gaps));
	free(gaps);
	return p;
}

bool periodicity_is_known(const struct periodicity *periodicity)
{
	return periodicity->error <= MOST_ERROR * periodicity->period;
}

bool periodicity_is_uncertain(const struct periodicity *periodicity)
{
	return periodicity->occurrences < SURE_OCCURRENCES;
}
