// SPDX-License-Identifier: GPL-2.0
/*
 * critical, off-critical: two threads meet at a barrier after each part. hot()
 * is what the longer part consists of, by which the other one waits; or the
 * shorter one, which the program does not depend on. For two CPUs.
 */
#include <stdbool.h>

#include "work.h"

static pthread_barrier_t barrier;
static unsigned int phases;
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static void *run(void *is_hot)
{
	for (unsigned int i = 0; i < phases; i++) {
		if (is_hot) {
			work_enter();
			hot();
			work_leave();
		} else {
			work_rest(1500 * UNITS_US);
		}
		pthread_barrier_wait(&barrier);
	}
	work_done();
	return is_hot;
}

int main(int argc, char **argv)
{
	bool is_hot = true;
	pthread_t other;

	work_options(argc, argv);
	units = work_cut(HOT_UNITS * UNITS_US);
	phases = work_times(200);
	pthread_barrier_init(&barrier, NULL, 2);
	other = work_thread(run, &is_hot);
	run(NULL);
	work_join(other);
	return work_report();
}
