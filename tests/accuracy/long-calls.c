// SPDX-License-Identifier: GPL-2.0
/* long-calls: hot() takes 20 ms and is called a few times. */
#include "work.h"

static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(20 * UNITS_MS);
	for (unsigned int i = work_times(20); i; i--) {
		work_rest(5 * UNITS_MS);
		work_enter();
		hot();
		work_leave();
	}
	work_done();
	return work_report();
}
