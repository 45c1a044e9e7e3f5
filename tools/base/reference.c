// SPDX-License-Identifier: GPL-2.0
#include "reference.h"

#include <time.h>

uint64_t reference_loop(void)
{
	enum { WORDS = 32768, STEPS = 3000000 };
	static volatile uint64_t table[WORDS];
	struct timespec from, to;
	uint64_t x = 88172645463325252;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (int i = 0; i < STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		table[x % WORDS] = table[x % WORDS] + x;
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (to.tv_sec - from.tv_sec) * 1000000000 +
	       (to.tv_nsec - from.tv_nsec);
}
