// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded after the library: threads that run before it starts, busily in the
 * function that it redirects.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define THREADS 4

int early_function(int n);

static pthread_t threads[THREADS];
static volatile int stop;
static unsigned long wrong;

__attribute__((noinline)) int early_function(int n)
{
	/* A loop of several iterations, so that many are inside at any time. */
	for (int i = 0; i < 3; i++)
		__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void *run(void *unused)
{
	int (*volatile call)(int) = early_function;
	unsigned long bad = 0;
	int i = 0;

	(void)unused;
	while (!stop) {
		bad += call(i) != i + 1;
		i = (i + 1) & 0xffff;
	}
	__atomic_fetch_add(&wrong, bad, __ATOMIC_RELAXED);
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

__attribute__((destructor)) static void end(void)
{
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("early: %lu wrong\n", wrong);
	fflush(stdout);
}
