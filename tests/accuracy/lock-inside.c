// SPDX-License-Identifier: GPL-2.0
/*
 * lock-inside: four threads, and hot() takes a lock, computes, and waits for a
 * device under it. The lock is what the program waits for, not the CPU.
 *
 * Long turns: the cut takes a part of the computing only, and what the kernel
 * does for hot(), some 100 us in a guest, is to be little beside it.
 */
#include "work.h"

#define THREADS	4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int turns, taken;
static uint64_t units;

HOT void hot(void)
{
	pthread_mutex_lock(&lock);
	work_spin(&meter_hot, units);
	work_device(5000);
	pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
	while (__atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST) < turns) {
		work_enter();
		hot();
		work_leave();
		work_rest(2 * UNITS_MS);
	}
	work_done();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	work_options(argc, argv);
	units = work_cut(12 * UNITS_MS);
	turns = work_times(32);
	for (int i = 0; i < THREADS; i++)
		thread[i] = work_thread(run, NULL);
	for (int i = 0; i < THREADS; i++)
		work_join(thread[i]);
	return work_report();
}
