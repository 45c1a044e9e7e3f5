// SPDX-License-Identifier: GPL-2.0
/* Two threads: one computes, and hands over to the other one, which waits for it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define TIMES	50
#define WORK_NS	2000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int given;

static int64_t used(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

__attribute__((noinline)) static void give(void)
{
	pthread_mutex_lock(&mutex);
	given++;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) static void take(int number)
{
	pthread_mutex_lock(&mutex);
	while (given < number)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *taker(void *arg)
{
	for (int i = 1; i <= TIMES; i++)
		take(i);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, taker, NULL))
		return 1;
	pthread_setname_np(thread, "taker");
	for (int i = 0; i < TIMES; i++) {
		int64_t end = used() + WORK_NS;

		while (used() < end)
			;
		give();
	}
	usleep(20000);
	pthread_join(thread, NULL);
	return 0;
}
