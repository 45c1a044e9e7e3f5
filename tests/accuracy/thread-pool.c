// SPDX-License-Identifier: GPL-2.0
/*
 * thread-pool: four workers take jobs from a queue; each job computes, waits
 * for a device, and calls hot().
 */
#include <stdbool.h>

#include "work.h"

#define WORKERS	4

static struct queue queue;
static unsigned int jobs, taken;
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static bool take_job(void)
{
	if (__atomic_fetch_add(&taken, 1, __ATOMIC_SEQ_CST) >= jobs)
		return false;
	queue_pop(&queue);
	return true;
}

static void *run(void *unused)
{
	while (take_job()) {
		work_rest(400 * UNITS_US);
		work_device(1000);
		work_enter();
		hot();
		work_leave();
	}
	work_done();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t worker[WORKERS];

	work_options(argc, argv);
	units = work_cut(1400 * UNITS_US);
	jobs = work_times(240);
	queue_init(&queue, 8);
	for (int i = 0; i < WORKERS; i++)
		worker[i] = work_thread(run, NULL);
	for (unsigned int i = 0; i < jobs; i++) {
		work_rest(50 * UNITS_US);
		queue_push(&queue);
	}
	work_done();
	for (int i = 0; i < WORKERS; i++)
		work_join(worker[i]);
	return work_report();
}
