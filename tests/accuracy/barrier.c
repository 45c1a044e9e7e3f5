// SPDX-License-Identifier: GPL-2.0
/*
 * barrier: three threads that meet after each phase. One calls hot(), one
 * does other work, and one waits for a device, which is what a phase takes
 * once hot() is half as long.
 */
#include "work.h"

static pthread_barrier_t barrier;
static unsigned int phases;
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static void compute(void)
{
	work_enter();
	hot();
	work_leave();
}

static void assist(void)
{
	work_rest(600 * UNITS_US);
}

static void fetch(void)
{
	work_device(2000);
}

static void *run(void *data)
{
	void (*const *part)(void) = data;

	for (unsigned int i = 0; i < phases; i++) {
		(*part)();
		pthread_barrier_wait(&barrier);
	}
	work_done();
	return data;
}

int main(int argc, char **argv)
{
	static void (*parts[])(void) = { compute, assist, fetch };
	pthread_t thread[3];

	work_options(argc, argv);
	units = work_cut(2 * UNITS_MS);
	phases = work_times(200);
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 3; i++)
		thread[i] = work_thread(run, &parts[i]);
	for (int i = 0; i < 3; i++)
		work_join(thread[i]);
	return work_report();
}
