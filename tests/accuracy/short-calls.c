// SPDX-License-Identifier: GPL-2.0
/* short-calls: hot() takes 2 us and is called all the time. */
#include "work.h"

static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(2 * UNITS_US);
	for (unsigned int i = work_times(150000); i; i--) {
		work_enter();
		hot();
		work_leave();
		work_rest(UNITS_US);
	}
	work_done();
	return work_report();
}
