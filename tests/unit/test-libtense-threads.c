// SPDX-License-Identifier: GPL-2.0
/* Threads of libtense that get in each other's way; also under TSan. */
#include <errno.h>
#include <string.h>

#include <tense.h>

#include "api/clocks.h"
#include "api/config.h"
#include "fake-device.h"
#include "in-child.h"

#define THREADS	8
#define ROUNDS	2000

static pthread_barrier_t barrier;

static void *nest(void *arg)
{
	int percent = 50 + 10 * *(int *)arg;
	intptr_t errors = 0;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		errors += tense_scale_percent(percent) != 0;
		errors += fake_percent() != (unsigned int)percent;
		errors += tense_scale_percent(200) != 0;
		errors += fake_percent() != 2 * (unsigned int)percent;
		errors += tense_scale_pop() != 0;
		errors += tense_scale_pop() != 0;
		errors += fake_percent() != 100;
		errors += tense_health_check() != 0;
	}
	return (void *)errors;
}

static void *come_and_go(void *arg)
{
	intptr_t errors = 0;
	uint64_t ns;

	(void)arg;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		errors += tense_init() != 0;
		errors += tense_scale_percent(300) != 0;
		errors += fake_percent() != 300;
		errors += tense_time_ns(&ns) != 0;
		errors += tense_destroy() != 0;
		errors += tense_time_ns(&ns) != -ESRCH;
	}
	return (void *)errors;
}

static void *read_clocks(void *arg)
{
	intptr_t errors = 0;
	struct timespec ts;

	(void)arg;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		errors += tense_clocks_get(CLOCK_REALTIME, &ts) != 0;
		/* Fails if what it opened is closed before it is used. */
		(void)tense_device_sleep(10);
		errors += tense_clocks_get(CLOCK_TAI, &ts) != 0;
	}
	return (void *)errors;
}

static void *close_all(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS / 100; i++)
		fake_close_all();
	return NULL;
}

static int64_t run(void *(*fn)(void *arg), bool strangers,
		   void *(*also)(void *arg))
{
	pthread_t threads[THREADS], other;
	int numbers[THREADS];
	int64_t errors = 0;
	void *ret;

	pthread_barrier_init(&barrier, NULL, THREADS + (also ? 1 : 0));
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (fake_thread(&threads[i], strangers, fn, &numbers[i]))
			return -1;
	}
	if (also && fake_thread(&other, false, also, NULL))
		return -1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &ret);
		errors += (intptr_t)ret;
	}
	if (also)
		pthread_join(other, NULL);
	pthread_barrier_destroy(&barrier);
	return errors;
}

static void stacks(void)
{
	tense_init();
	is_i64(run(nest, false, NULL), 0, "each thread has a stack of its own");
}

static void joining(void)
{
	unsigned int open;

	tense_init();
	open = fake_open_fds();
	is_i64(run(come_and_go, true, NULL), 0, "threads join and leave");
	is_i64(fake_open_fds(), open, "and leave no descriptor behind");
	is_i64(fake.members, 1, "and no member");
}

static void areas(void)
{
	int mapped;

	fake.map_error = 0;
	tense_init();
	tense_scale_percent(200);
	tense_scale_pop();
	mapped = fake.mapped;
	is_i64(run(nest, false, NULL), 0, "each thread has an area of its own");
	is_i64(run(come_and_go, true, NULL), 0, "also those that come and go");
	is_i64(fake.mapped, mapped, "and unmaps it");
	is_i64(fake.broken, 0, "no rule of a ring was broken");
}

static void clocks(void)
{
	tense_device_join(true);
	tense_clocks_start();
	is_i64(run(read_clocks, false, close_all), 0,
	       "threads read clocks and sleep while all descriptors are closed");
}

int main(void)
{
	in_child("stacks", stacks);
	in_child("joining", joining);
	in_child("areas", areas);
	in_child("clocks", clocks);
	return done();
}
