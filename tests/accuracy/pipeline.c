// SPDX-License-Identifier: GPL-2.0
/*
 * pipeline: three stages, one thread each, with bounded queues between them.
 * The one in the middle calls hot(), the last one waits for a device.
 */
#include "work.h"

static struct queue first, second;
static unsigned int items;
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static void *refine(void *unused)
{
	for (unsigned int i = 0; i < items; i++) {
		queue_pop(&first);
		work_enter();
		hot();
		work_leave();
		queue_push(&second);
	}
	work_done();
	return unused;
}

static void *deliver(void *unused)
{
	for (unsigned int i = 0; i < items; i++) {
		queue_pop(&second);
		work_rest(400 * UNITS_US);
		work_device(800);
	}
	work_done();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t refiner, deliverer;

	work_options(argc, argv);
	units = work_cut(1500 * UNITS_US);
	items = work_times(200);
	queue_init(&first, 4);
	queue_init(&second, 4);
	refiner = work_thread(refine, NULL);
	deliverer = work_thread(deliver, NULL);
	for (unsigned int i = 0; i < items; i++) {
		work_rest(600 * UNITS_US);
		queue_push(&first);
	}
	work_done();
	work_join(refiner);
	work_join(deliverer);
	return work_report();
}
