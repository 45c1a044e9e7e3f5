// SPDX-License-Identifier: GPL-2.0
/*
 * requests: one arrives every 4 ms, whatever the program does, and hot() is
 * part of the answer. It is done when the last one is answered: a faster hot()
 * makes the last answer come sooner, and nothing else.
 */
#include <time.h>

#include "work.h"

#define PERIOD_NS	4000000

static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static void wait_until(struct timespec *time)
{
	time->tv_nsec += PERIOD_NS;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, time, NULL))
		;
}

int main(int argc, char **argv)
{
	struct timespec time;

	work_options(argc, argv);
	units = work_cut(2 * UNITS_MS);
	clock_gettime(CLOCK_MONOTONIC, &time);
	for (unsigned int i = work_times(100); i; i--) {
		wait_until(&time);
		work_rest(500 * UNITS_US);
		work_enter();
		hot();
		work_leave();
	}
	work_done();
	return work_report();
}
