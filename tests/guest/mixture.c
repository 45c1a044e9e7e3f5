// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose output tells in which order its threads and processes ran, at
 * what times, and what random numbers it got: a little of all that differs from
 * run to run.
 *
 *	mixture		threads, locks, sleeps, pipes and forks
 *	mixture N	2 N instructions
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS		4
#define ROUNDS		40
#define CHILDREN	8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static char order[THREADS * ROUNDS + 1];
static int entries;

static void work(uint64_t n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}

static void pause_us(long us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

static void *run_thread(void *arg)
{
	intptr_t id = (intptr_t)arg;

	for (int round = 0; round < ROUNDS; round++) {
		work(20000);
		pthread_mutex_lock(&mutex);
		order[entries++] = '0' + id;
		work(1000);
		pthread_mutex_unlock(&mutex);
		if (round % 8 == id)
			pause_us(1000 + 100 * id);
		if (round % 10 == 9)
			pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts(order);
}

static void print_time(int fd, const char *what, int clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	dprintf(fd, "%s, process %d: %lld.%09ld\n", what, getpid(),
		(long long)now.tv_sec, now.tv_nsec);
}

static void run_children(void)
{
	char buf[512];
	ssize_t n;
	int fds[2];

	if (pipe(fds))
		exit(1);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork())
			continue;
		work(30000 * (i + 1));
		print_time(fds[1], "child", CLOCK_MONOTONIC);
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		fwrite(buf, 1, n, stdout);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	uint64_t random;

	if (argc > 1) {
		work(strtoull(argv[1], NULL, 10));
		return 0;
	}
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return 1;
	printf("random %llx, stack %p\n", (unsigned long long)random,
	       (void *)&random);
	run_threads();
	fflush(stdout);
	run_children();
	fflush(stdout);
	print_time(1, "end", CLOCK_REALTIME);
	return 3;
}
