// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeps of libtense are cancellation points. Not under ASan, which does not
 * notice that a cancelled thread leaves its frames.
 */
#include "api/clocks.h"
#include "fake-device.h"
#include "tap.h"

static void *sleeper(void *arg)
{
	struct timespec ts;

	(void)arg;
	/* Waits for the next cancellation point. */
	pthread_cancel(pthread_self());
	tense_clocks_get(CLOCK_MONOTONIC, &ts);
	fake.slept = 42;
	tense_device_sleep(1000);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *ret;
	int type = -1;

	ok(!tense_device_join(true), "joined");
	tense_clocks_start();
	fake_thread(&thread, false, sleeper, NULL);
	pthread_join(thread, &ret);
	ok(ret == PTHREAD_CANCELED, "a sleep is a cancellation point");
	is_i64(fake.slept, 42, "before it sleeps, and reading a clock is none");
	tense_device_sleep(1000);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	is_i64(type, PTHREAD_CANCEL_DEFERRED, "the type is left alone");
	return done();
}
