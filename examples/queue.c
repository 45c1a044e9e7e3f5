// SPDX-License-Identifier: GPL-2.0
/*
 * A queueing model that the scheduler runs: jobs arrive at random times and wait
 * for one server, which takes 5 ms for each (M/D/1).
 *
 * The producer sleeps until each job arrives. The server does no work: it calls
 * tense_move_ns(), which charges 5 ms of virtual time as if it had computed for so
 * long. With `--idle skip` no thread waits in real time either.
 *
 * The program prints the mean wait of a job by its clock. Beside it is the mean wait
 * for the same arrivals by Lindley's recursion: wait' = max(0, wait + service - gap).
 *
 * From the top of the tree, after `make user`; the argument is the utilisation of
 * the server in percent:
 *
 *	$ cc -O2 -Ilibtense/include examples/queue.c -Lbuild/lib -ltense -Wl,-rpath,$PWD/build/lib -lm -pthread -o build/queue
 *	$ build/bin/tense run --idle skip -- build/queue 70
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>
#include <time.h>

#define JOBS		200
#define SERVICE_NS	5000000
#define FIRST_NS	100000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived;
static int64_t due[JOBS];	/* when each job arrives, by CLOCK_MONOTONIC */
static int64_t waited;		/* by all jobs, ns */

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void *serve(void *unused)
{
	for (int i = 0; i < JOBS; i++) {
		pthread_mutex_lock(&lock);
		while (arrived <= i)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		waited += now() - due[i];
		tense_move_ns(SERVICE_NS);
	}
	return unused;
}

static void produce(void)
{
	for (int i = 0; i < JOBS; i++) {
		sleep_until(due[i]);
		pthread_mutex_lock(&lock);
		arrived++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
}

/* Fills in when jobs arrive; returns the sum of their waits by the recursion. */
static double plan(double utilisation)
{
	double at = now() + FIRST_NS, wait = 0, sum = 0;
	struct drand48_data random;

	memset(&random, 0, sizeof(random));
	srand48_r(1, &random);
	for (int i = 0; i < JOBS; i++) {
		double uniform, gap;

		due[i] = at;
		sum += wait;
		drand48_r(&random, &uniform);
		gap = -log(1 - uniform) * SERVICE_NS / utilisation;
		wait = fmax(0, wait + SERVICE_NS - gap);
		at += gap;
	}
	return sum;
}

int main(int argc, char **argv)
{
	double utilisation = (argc > 1 ? atoi(argv[1]) : 70) / 100.0;
	pthread_t server;
	double expected;
	int error = tense_init();

	if (error) {
		fprintf(stderr, "queue: no virtual time: %s\n", strerror(-error));
		return 1;
	}
	expected = plan(utilisation);
	if (pthread_create(&server, NULL, serve, NULL))
		return 1;
	produce();
	pthread_join(server, NULL);
	printf("measured %lld us\nexpected %lld us\n",
	       (long long)(waited / JOBS / 1000),
	       (long long)(expected / JOBS / 1000));
	return 0;
}
