// SPDX-License-Identifier: GPL-2.0
/*
 * clock-cost VARIANT ROUND: what clock_gettime() costs here, in thousandths of
 * a tick of the counter: that of the vDSO, or of libtense where it is preloaded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../lib/cycles.h"
#include "../lib/sort.h"

#define BATCHES		101
#define READINGS	10000

static uint64_t batch(void)
{
	uint64_t start = cycles();
	struct timespec now;

	for (int i = 0; i < READINGS; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return cycles() - start;
}

int main(int argc, char **argv)
{
	int64_t ticks[BATCHES];

	if (argc != 3) {
		fputs("Usage: clock-cost VARIANT ROUND\n", stderr);
		return 2;
	}
	for (int i = 0; i < BATCHES; i++)
		ticks[i] = batch();
	/* Not the mean: others have the CPU in some of them. */
	sort_i64(ticks, BATCHES);
	printf("run %s %s\n", argv[1], argv[2]);
	printf("reading_millitick %ju\n",
	       (uintmax_t)ticks[BATCHES / 2] * 1000 / READINGS);
	return fflush(stdout) ? 1 : 0;
}
