// SPDX-License-Identifier: GPL-2.0
/*
 * gate-spin MILLIONS: counts so far on one CPU, and four times as far at percent 400
 * on another. Prints how often one of the two threads went to sleep, which it only
 * does at a gate.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <tense.h>

static long steps;
static pthread_barrier_t both;

struct part {
	int times;
	long switches;
};

static void *count(void *arg)
{
	struct part *part = arg;
	struct rusage before, after;

	pthread_barrier_wait(&both);
	tense_scale_percent(100 * part->times);
	getrusage(RUSAGE_THREAD, &before);
	for (volatile long i = 0; i < steps * part->times; i++)
		;
	getrusage(RUSAGE_THREAD, &after);
	part->switches = after.ru_nvcsw - before.ru_nvcsw;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	struct part part[2] = { { .times = 1 }, { .times = 4 } };

	if (argc != 2)
		return 2;
	steps = atol(argv[1]) * 1000000;
	pthread_barrier_init(&both, NULL, 2);
	for (int cpu = 0; cpu < 2; cpu++) {
		pthread_attr_t attr;
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		if (pthread_create(&thread[cpu], &attr, count, &part[cpu]))
			return 1;
	}
	for (int cpu = 0; cpu < 2; cpu++)
		pthread_join(thread[cpu], NULL);
	printf("%ld\n", part[0].switches + part[1].switches);
	return 0;
}
