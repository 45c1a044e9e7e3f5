/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A counter that user space reads without a system call and that no virtual
 * time touches: for loops that must know the real time at every turn.
 */
#ifndef CYCLES_H
#define CYCLES_H

#include <stdint.h>

#include "real-clock.h"

static inline uint64_t cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
#error "no cycle counter known for this architecture"
#endif
}

/* Takes 50 ms. */
static inline double cycles_per_ns(void)
{
	uint64_t ns = real_clock(CLOCK_MONOTONIC), start = cycles();
	uint64_t end;

	do
		end = real_clock(CLOCK_MONOTONIC);
	while (end - ns < 50000000);
	return (double)(cycles() - start) / (end - ns);
}

#endif
