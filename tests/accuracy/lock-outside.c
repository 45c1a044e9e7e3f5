// SPDX-License-Identifier: GPL-2.0
/*
 * lock-outside: three threads that call hot() with a lock held, and then wait
 * for a device without it. They share the turns: with as many for each, how
 * long the last one is alone would be a matter of luck.
 */
#include "work.h"

#define THREADS	3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int turns, taken;
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static void *run(void *unused)
{
	while (__atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST) < turns) {
		pthread_mutex_lock(&lock);
		work_rest(300 * UNITS_US);
		work_enter();
		hot();
		work_leave();
		pthread_mutex_unlock(&lock);
		work_device(1500);
	}
	work_done();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	work_options(argc, argv);
	units = work_cut(1500 * UNITS_US);
	turns = work_times(300);
	for (int i = 0; i < THREADS; i++)
		thread[i] = work_thread(run, NULL);
	for (int i = 0; i < THREADS; i++)
		work_join(thread[i]);
	return work_report();
}
