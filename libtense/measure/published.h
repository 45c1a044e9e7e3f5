/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MEASURE_PUBLISHED_H
#define MEASURE_PUBLISHED_H

#include <stdint.h>

/*
 * Reads until two readings are at least threshold apart, and returns how far. 0 if
 * that does not come within most units. The clock is a parameter for tests.
 */
uint64_t first_gap(uint64_t (*read)(void *arg), void *arg, uint64_t threshold,
		   uint64_t most);

#endif
