// SPDX-License-Identifier: GPL-2.0
/* system-calls: hot() does little else than to call the kernel. */
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

static uint64_t units;

HOT void hot(void)
{
	for (uint64_t i = units; i; i--) {
		syscall(SYS_getppid);
		work_spin(&meter_hot, UNITS_US);
	}
}

int main(int argc, char **argv)
{
	work_options(argc, argv);
	units = work_cut(20);
	for (unsigned int i = work_times(600); i; i--) {
		work_enter();
		hot();
		work_leave();
		work_rest(500 * UNITS_US);
	}
	work_done();
	return work_report();
}
