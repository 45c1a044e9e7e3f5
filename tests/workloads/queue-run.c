// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that sleeps until the next job arrives, and one that serves them.
 * A job waits from when it was to arrive: a producer that wakes late, or finds
 * no room, does not make queues shorter than they are.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#include "../lib/real-clock.h"
#include "queue.h"

/* Until the first job. */
#define HEAD_START	20000000
/* The server computes so many loops first, to learn how fast the machine is. */
#define MEASURE_LOOPS	20000000

struct run {
	const struct queue_system *system;
	struct queue_job *jobs;
	size_t count;
	uint64_t start;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t put, taken;
	double loops_per_ns;
};

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "queue: %s: %s\n", what, strerror(error));
	exit(1);
}

static void compute(uint64_t loops)
{
	for (volatile uint64_t i = 0; i < loops; i++)
		;
}

/* Real CPU time of this thread, whatever its percent. */
static double cpu_time(void)
{
	return real_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* The machine may be faster at one time than at another. */
static double compute_for(struct run *r, double ns)
{
	double loops = ns * r->loops_per_ns, from = cpu_time(), used;

	compute(loops);
	used = cpu_time() - from;
	/* Too little for the clock. */
	if (used <= 0)
		return ns;
	r->loops_per_ns = loops / used;
	return used;
}

static void work(struct run *r, double ns)
{
	double left = ns;

	while (left > ns / 50)
		left -= compute_for(r, left * 9 / 10);
	if (left > 0)
		compute(left * r->loops_per_ns);
}

static void measure_machine(struct run *r)
{
	r->loops_per_ns = 1;
	compute_for(r, MEASURE_LOOPS);
}

static void serve(struct run *r, size_t i)
{
	const struct queue_speeds *imagined = &r->system->imagined;
	struct queue_job *job = &r->jobs[i];
	uint64_t begin = libc_clock(CLOCK_MONOTONIC);

	if (imagined->count)
		must(-tense_scale_percent(imagined->percent[i % imagined->count]),
		     "tense_scale_percent");
	work(r, job->work);
	if (imagined->count)
		must(-tense_scale_pop(), "tense_scale_pop");
	job->served = libc_clock(CLOCK_MONOTONIC) - begin;
	job->wait = (double)begin - r->start - job->due;
	job->measured = begin - job->stamp;
}

static void *server(void *arg)
{
	struct run *r = arg;

	for (size_t i = 0; i < r->count; i++) {
		pthread_mutex_lock(&r->lock);
		while (r->put == r->taken)
			pthread_cond_wait(&r->changed, &r->lock);
		r->taken++;
		if (r->system->room)
			pthread_cond_signal(&r->changed);
		pthread_mutex_unlock(&r->lock);
		serve(r, i);
	}
	return NULL;
}

static void sleep_until(uint64_t ns)
{
	struct timespec time = {
		.tv_sec = ns / 1000000000,
		.tv_nsec = ns % 1000000000,
	};
	int error;

	do {
		error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time,
					NULL);
	} while (error == EINTR);
	must(error, "clock_nanosleep");
}

static void produce(struct run *r)
{
	size_t room = r->system->room;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t due = r->start + (uint64_t)r->jobs[i].due;

		sleep_until(due);
		pthread_mutex_lock(&r->lock);
		while (room && r->put - r->taken == room)
			pthread_cond_wait(&r->changed, &r->lock);
		r->jobs[i].stamp = libc_clock(CLOCK_MONOTONIC);
		r->put++;
		pthread_cond_signal(&r->changed);
		pthread_mutex_unlock(&r->lock);
		r->jobs[i].late = (double)libc_clock(CLOCK_MONOTONIC) - due;
	}
}

void queue_run(const struct queue_system *system, struct queue_job *jobs,
	       size_t count)
{
	struct run r = {
		.system = system,
		.jobs = jobs,
		.count = count,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	pthread_t thread;

	measure_machine(&r);
	r.start = libc_clock(CLOCK_MONOTONIC) + HEAD_START;
	must(pthread_create(&thread, NULL, server, &r), "pthread_create");
	produce(&r);
	must(pthread_join(thread, NULL), "pthread_join");
	queue_judge(jobs, count);
}
