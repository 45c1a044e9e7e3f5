// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs go through a bounded queue whose producers and consumers stamp them with
 * CLOCK_MONOTONIC. No job may be taken before it was put (R9): a program that
 * subtracts the stamps would get a negative wait. Natively there are none.
 *
 *	stamped-queue KIND JOBS [PERCENT PERCENT]
 *
 * KIND is "locked", with two producers and two consumers, a mutex and condition
 * variables, or "ring", with one of each, which meet only in memory. The
 * percents are the producers' and the consumers'.
 *
 * Each line of the output is "WHAT COUNT".
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "raw-clock.h"

#define CAPACITY	256
#define SIDES_MAX	2
/* Spins before a side of the ring yields the CPU to the other side. */
#define SPINS		1000

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t room, jobs;
	atomic_ulong put, taken;
	int64_t stamp[CAPACITY];
};

struct side {
	struct queue *queue;
	unsigned long count;	/* jobs that it puts or takes */
	int percent;
	unsigned long negative;
	int64_t worst;
};

static struct queue queue = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.room = PTHREAD_COND_INITIALIZER,
	.jobs = PTHREAD_COND_INITIALIZER,
};

static __attribute__((noreturn)) void fail(const char *what, int error)
{
	fprintf(stderr, "stamped-queue: %s: %s\n", what, strerror(error));
	exit(1);
}

static void compute(unsigned long job)
{
	unsigned int loops = job % 32 ? job * 7919 % 500 : 5000;

	for (volatile unsigned int i = 0; i < loops; i++)
		;
}

/* ESRCH is no error: outside of an experiment there is no percent. */
static void begin(const struct side *s)
{
	int error = s->percent == 100 ? 0 : tense_scale_percent(s->percent);

	if (error && error != -ENODEV)
		fail("tense_scale_percent", -error);
}

static void check(struct side *s, int64_t stamp)
{
	int64_t wait = page_clock(CLOCK_MONOTONIC) - stamp;

	if (wait >= 0)
		return;
	s->negative++;
	if (-wait > s->worst)
		s->worst = -wait;
}

static void *put_locked(void *arg)
{
	struct side *s = arg;
	struct queue *q = s->queue;

	begin(s);
	for (unsigned long i = 0; i < s->count; i++) {
		compute(i);
		pthread_mutex_lock(&q->lock);
		while (q->put - q->taken == CAPACITY)
			pthread_cond_wait(&q->room, &q->lock);
		q->stamp[q->put++ % CAPACITY] = page_clock(CLOCK_MONOTONIC);
		pthread_cond_signal(&q->jobs);
		pthread_mutex_unlock(&q->lock);
	}
	return NULL;
}

static void *take_locked(void *arg)
{
	struct side *s = arg;
	struct queue *q = s->queue;

	begin(s);
	for (unsigned long i = 0; i < s->count; i++) {
		pthread_mutex_lock(&q->lock);
		while (q->put == q->taken)
			pthread_cond_wait(&q->jobs, &q->lock);
		check(s, q->stamp[q->taken++ % CAPACITY]);
		pthread_cond_signal(&q->room);
		pthread_mutex_unlock(&q->lock);
		compute(i * 3);
	}
	return NULL;
}

static void wait_in_turn(unsigned int *spins)
{
	if (++*spins % SPINS == 0)
		sched_yield();
}

static void *put_ring(void *arg)
{
	struct side *s = arg;
	struct queue *q = s->queue;
	unsigned int spins = 0;

	begin(s);
	for (unsigned long i = 0; i < s->count; i++) {
		compute(i);
		while (i - atomic_load_explicit(&q->taken, memory_order_acquire) ==
		       CAPACITY)
			wait_in_turn(&spins);
		q->stamp[i % CAPACITY] = page_clock(CLOCK_MONOTONIC);
		atomic_store_explicit(&q->put, i + 1, memory_order_release);
	}
	return NULL;
}

static void *take_ring(void *arg)
{
	struct side *s = arg;
	struct queue *q = s->queue;
	unsigned int spins = 0;

	begin(s);
	for (unsigned long i = 0; i < s->count; i++) {
		while (atomic_load_explicit(&q->put, memory_order_acquire) == i)
			wait_in_turn(&spins);
		check(s, q->stamp[i % CAPACITY]);
		atomic_store_explicit(&q->taken, i + 1, memory_order_release);
		compute(i * 3);
	}
	return NULL;
}

static void run(bool locked, unsigned long jobs, const int percent[2])
{
	int sides = locked ? SIDES_MAX : 1, threads = 0;
	unsigned long negative = 0;
	struct side side[2][SIDES_MAX];
	pthread_t thread[2 * SIDES_MAX];
	int64_t worst = 0;

	for (int taker = 0; taker < 2; taker++) {
		void *(*work)(void *) = locked ?
			(taker ? take_locked : put_locked) :
			(taker ? take_ring : put_ring);

		for (int i = 0; i < sides; i++) {
			struct side *s = &side[taker][i];
			int error;

			*s = (struct side) {
				.queue = &queue,
				.count = jobs / sides,
				.percent = percent[taker],
			};
			error = pthread_create(&thread[threads++], NULL, work, s);
			if (error)
				fail("pthread_create", error);
		}
	}
	while (threads)
		pthread_join(thread[--threads], NULL);
	for (int i = 0; i < sides; i++) {
		negative += side[1][i].negative;
		if (side[1][i].worst > worst)
			worst = side[1][i].worst;
	}
	printf("jobs %lu\nnegative %lu\nworst_ns %jd\n", queue.taken, negative,
	       (intmax_t)worst);
}

static const char usage[] =
"Usage: stamped-queue locked|ring JOBS [PERCENT PERCENT]\n";

int main(int argc, char **argv)
{
	int percent[2] = { 100, 100 };
	unsigned long jobs;
	bool locked;

	if ((argc != 3 && argc != 5) ||
	    (strcmp(argv[1], "locked") && strcmp(argv[1], "ring"))) {
		fputs(usage, stderr);
		return 2;
	}
	locked = !strcmp(argv[1], "locked");
	jobs = strtoul(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++)
		percent[i - 3] = atoi(argv[i]);
	if (!jobs || jobs % SIDES_MAX || percent[0] < 1 || percent[1] < 1) {
		fputs(usage, stderr);
		return 2;
	}
	run(locked, jobs, percent);
	return fflush(stdout) ? 1 : 0;
}
