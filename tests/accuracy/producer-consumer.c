// SPDX-License-Identifier: GPL-2.0
/*
 * producer-consumer: a producer in hot() and a consumer behind a slow device.
 * The consumer is what takes long: a faster hot() helps next to nothing.
 */
#include "work.h"

static struct queue queue;
static unsigned int items;
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static void *consume(void *unused)
{
	for (unsigned int i = 0; i < items; i++) {
		queue_pop(&queue);
		work_rest(500 * UNITS_US);
		work_device(2000);
	}
	work_done();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t consumer;

	work_options(argc, argv);
	units = work_cut(800 * UNITS_US);
	items = work_times(200);
	queue_init(&queue, 2);
	consumer = work_thread(consume, NULL);
	for (unsigned int i = 0; i < items; i++) {
		work_enter();
		hot();
		work_leave();
		queue_push(&queue);
	}
	work_done();
	work_join(consumer);
	return work_report();
}
