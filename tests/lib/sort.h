/* SPDX-License-Identifier: GPL-2.0 */
/* Sorts numbers, the least first: for medians and percentiles. */
#ifndef TESTS_SORT_H
#define TESTS_SORT_H

#include <stdint.h>
#include <stdlib.h>

static inline int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static inline void sort_i64(int64_t *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), compare_i64);
}

static inline int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median_of(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), compare_double);
	return numbers[count / 2];
}

#endif
