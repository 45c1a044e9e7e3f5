// SPDX-License-Identifier: GPL-2.0
/* recursion: hot() walks a tree by calling itself. */
#include "work.h"

#define DEPTH	7

static uint64_t units;

HOT void hot(unsigned int depth)
{
	work_spin(&meter_hot, units);
	if (depth) {
		hot(depth - 1);
		hot(depth - 1);
	}
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(10 * UNITS_US);
	for (unsigned int i = work_times(120); i; i--) {
		work_enter();
		hot(DEPTH);
		work_leave();
		work_rest(1500 * UNITS_US);
	}
	work_done();
	return work_report();
}
