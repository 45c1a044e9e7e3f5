// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that compute at different percents until the same virtual time: on a
 * CPU each as far as there are so many, else they share.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tense.h>

#define THREADS_MAX	64
/* Between two looks at the clock; well under a microsecond. */
#define INNER_LOOPS	256

struct speed {
	pthread_t thread;
	long percent;
	int nth;
	uint64_t result;	/* or the loop could be left out */
};

static struct speed speeds[THREADS_MAX];
static int count;
static uint64_t end;		/* ns */
static pthread_barrier_t barrier;

static __attribute__((noreturn)) void fail(const char *what, int error)
{
	fprintf(stderr, "speeds: %s: %s\n", what, strerror(error));
	exit(1);
}

static __attribute__((noreturn)) void misuse(void)
{
	fputs("Usage: speeds PERCENT,PERCENT... MS\n"
	      "\n"
	      "A thread for each percent computes until MS ms have passed to it.\n",
	      stderr);
	exit(2);
}

static uint64_t now(void)
{
	uint64_t ns = 0;
	int error = tense_time_ns(&ns);

	if (error)
		fail("no virtual time", -error);
	return ns;
}

/* The nth of the CPUs that there are, or would be if they came again. */
static void pin(int nth)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		fail("cannot read the CPU affinity", errno);
	nth %= CPU_COUNT(&all);
	while (!CPU_ISSET(cpu, &all) || nth--)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		fail("cannot stay on one CPU", errno);
}

static void *run(void *arg)
{
	struct speed *s = arg;
	uint64_t value = s->nth;
	char name[16];
	int error;

	snprintf(name, sizeof(name), "thread %c", 'A' + s->nth % 26);
	pthread_setname_np(pthread_self(), name);
	pin(s->nth);
	pthread_barrier_wait(&barrier);
	error = tense_scale_percent(s->percent);
	if (error)
		fail("cannot set the percent", -error);
	while (now() < end)
		for (int i = 0; i < INNER_LOOPS; i++)
			value = value * 6364136223846793005 + 1;
	s->result = value;
	return NULL;
}

static void parse(const char *list)
{
	do {
		char *rest;

		if (count == THREADS_MAX)
			misuse();
		speeds[count].nth = count;
		speeds[count].percent = strtol(list, &rest, 10);
		if (rest == list || (*rest && *rest != ',') ||
		    speeds[count].percent < TENSE_SCALE_MIN ||
		    speeds[count].percent > TENSE_SCALE_MAX)
			misuse();
		count++;
		list = *rest ? rest + 1 : NULL;
	} while (list);
}

int main(int argc, char **argv)
{
	char *rest;
	long ms;

	if (argc != 3)
		misuse();
	parse(argv[1]);
	ms = strtol(argv[2], &rest, 10);
	if (rest == argv[2] || *rest || ms <= 0)
		misuse();

	/* Nothing is preloaded that would have done so. */
	tense_init();
	pthread_barrier_init(&barrier, NULL, count);
	end = now() + ms * 1000000ull;
	for (int i = 1; i < count; i++) {
		int error = pthread_create(&speeds[i].thread, NULL, run,
					   &speeds[i]);

		if (error)
			fail("cannot start a thread", error);
	}
	/* The first thread is this one. */
	run(&speeds[0]);
	for (int i = 1; i < count; i++)
		pthread_join(speeds[i].thread, NULL);
	return 0;
}
