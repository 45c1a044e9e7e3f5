// SPDX-License-Identifier: GPL-2.0
/*
 * memory: hot() follows a chain through more memory than the near caches hold,
 * from miss to miss. The rest of the work is in registers.
 *
 * The chain visits each line once, in the order of a generator modulo the
 * number of lines: where it stands at the end tells how many steps it took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "work.h"

#define LINES	(1u << 17)	/* 8 MB */

struct line {
	uint32_t next;
	char rest[60];
};

static struct line *lines;
static uint64_t units;

HOT void hot(void)
{
	uint32_t at = meter_hot.state;

	for (uint64_t i = units; i; i--)
		at = lines[at].next;
	meter_hot.state = at;
	meter_hot.units += units;
	meter_hot.calls++;
}

static uint32_t next(uint32_t at)
{
	return (at * (uint32_t)WORK_FACTOR + (uint32_t)WORK_ADDEND) % LINES;
}

/* In place of the chain: what work_done() expects. */
static void check_chain(void)
{
	uint64_t state = work_steps(0, meter_hot.units);

	if (meter_hot.state != state % LINES) {
		fputs("memory: the chain is not the one that was laid\n",
		      stderr);
		exit(1);
	}
	meter_hot.state = state;
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(4000);
	/* At once: one page fault for each page would take far longer. */
	lines = mmap(NULL, LINES * sizeof(*lines), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (lines == MAP_FAILED) {
		perror("memory");
		return 1;
	}
	/* In the order of the chain, so that the first time is like the others. */
	for (uint32_t i = 0, at = 0; i < LINES; i++, at = lines[at].next)
		lines[at].next = next(at);
	for (unsigned int i = work_times(500); i; i--) {
		work_enter();
		hot();
		work_leave();
		work_rest(300 * UNITS_US);
	}
	check_chain();
	work_done();
	return work_report();
}
