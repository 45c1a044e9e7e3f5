// SPDX-License-Identifier: GPL-2.0
/* serial: one thread, hot() and other work in turns. */
#include "work.h"

static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(1500 * UNITS_US);
	for (unsigned int i = work_times(200); i; i--) {
		work_enter();
		hot();
		work_leave();
		work_rest(UNITS_MS);
	}
	work_done();
	return work_report();
}
