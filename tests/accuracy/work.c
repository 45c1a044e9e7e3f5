// SPDX-License-Identifier: GPL-2.0
#include "work.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../lib/cycles.h"

/* Samples of the machine's speed, per process. */
#define SAMPLES_MAX	4096
/* A shorter sample is not worth reading a clock twice. */
#define SAMPLE_UNITS	(50 * UNITS_US)

_Thread_local struct meter meter_hot, meter_rest;

static unsigned int cut, percent = 100, length = 100;
static bool pin;

/* In memory that processes share. */
struct sum {
	uint64_t hot, calls, rest;
	unsigned int samples;
	double sample[SAMPLES_MAX];	/* counter ticks per unit */
};

static struct sum *sum;

/* Found at run time: a program that is not annotated knows no libtense. */
static int (*scale_percent)(int percent);
static int (*scale_pop)(void);

static __attribute__((noreturn, format(printf, 1, 2))) void
fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static __attribute__((noreturn)) void misuse(void)
{
	fprintf(stderr,
		"Usage: %s [--cut PERCENT] [--percent P] [--length PERCENT] [--pin]\n"
		"The cut is a multiple of 5 below 100, the length at least 1.\n",
		program_invocation_short_name);
	exit(2);
}

static unsigned int number(const char *text, unsigned int min,
			   unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < min || value > max)
		misuse();
	return value;
}

static void find_libtense(void)
{
	*(void **)&scale_percent = dlsym(RTLD_DEFAULT, "tense_scale_percent");
	*(void **)&scale_pop = dlsym(RTLD_DEFAULT, "tense_scale_pop");
	if (!scale_percent || !scale_pop)
		fail("--percent needs libtense.so preloaded, as by `tense run`");
}

static void check(int error, const char *what)
{
	if (error)
		fail("%s: %s", what, strerror(error < 0 ? -error : error));
}

/* In turns, the initial thread to the first CPU. */
static void keep_to_next_cpu(pthread_t thread)
{
	static unsigned int next;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(next++ % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	check(pthread_setaffinity_np(thread, sizeof(cpus), &cpus),
	      "pthread_setaffinity_np");
}

void work_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cut", required_argument, NULL, 'c' },
		{ "percent", required_argument, NULL, 'p' },
		{ "length", required_argument, NULL, 'l' },
		{ "pin", no_argument, NULL, 'P' },
		{ 0 }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			cut = number(optarg, 0, 95);
		else if (c == 'p')
			percent = number(optarg, 1, 100000);
		else if (c == 'l')
			length = number(optarg, 1, 100000);
		else if (c == 'P')
			pin = true;
		else
			misuse();
	}
	if (optind != argc || cut % 5)
		misuse();
	if (percent != 100)
		find_libtense();
	sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sum == MAP_FAILED)
		fail("no memory");
	if (pin)
		keep_to_next_cpu(pthread_self());
}

uint64_t work_cut(uint64_t units)
{
	if (units % 20)
		fail("%" PRIu64 " units cannot be cut exactly", units);
	return units / 20 * (20 - cut / 5);
}

unsigned int work_times(unsigned int count)
{
	unsigned int times = (uint64_t)count * length / 100;

	return times ? times : 1;
}

void work_enter(void)
{
	if (scale_percent)
		check(scale_percent(percent), "tense_scale_percent");
}

void work_leave(void)
{
	if (scale_pop)
		check(scale_pop(), "tense_scale_pop");
}

static void add_sample(double ticks_per_unit)
{
	unsigned int i = __atomic_fetch_add(&sum->samples, 1, __ATOMIC_SEQ_CST);

	if (i < SAMPLES_MAX)
		sum->sample[i] = ticks_per_unit;
}

/* Not inlined: the same code wherever it is called from. */
__attribute__((noinline)) void work_rest(uint64_t units)
{
	uint64_t seen = meter_rest.units / SAMPLE_UNITS, start = cycles();

	work_spin(&meter_rest, units);
	if (meter_rest.units / SAMPLE_UNITS != seen)
		add_sample((double)(cycles() - start) / units);
}

void work_device(unsigned int us)
{
	struct timespec time = { .tv_nsec = us * 1000L };

	check(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL), "sleep");
}

/* The generator's state after so many steps from 0, by repeated squaring. */
static uint64_t state_after(uint64_t steps)
{
	uint64_t factor = WORK_FACTOR, addend = WORK_ADDEND, state = 0;

	for (; steps; steps >>= 1) {
		if (steps & 1)
			state = state * factor + addend;
		addend *= factor + 1;
		factor *= factor;
	}
	return state;
}

static void verify(const struct meter *meter)
{
	if (meter->state != state_after(meter->units))
		fail("did not do the work that it counted");
}

void work_done(void)
{
	verify(&meter_hot);
	verify(&meter_rest);
	__atomic_add_fetch(&sum->hot, meter_hot.units, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&sum->calls, meter_hot.calls, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&sum->rest, meter_rest.units, __ATOMIC_SEQ_CST);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Interrupts make some samples longer. The lower third is robust against them,
 * unlike the mean and the median.
 */
static double ticks_per_unit(void)
{
	unsigned int count = sum->samples;

	if (count > SAMPLES_MAX)
		count = SAMPLES_MAX;
	if (!count)
		return 0;
	qsort(sum->sample, count, sizeof(sum->sample[0]), compare);
	return sum->sample[count / 3];
}

int work_report(void)
{
	printf("hot %" PRIu64 "\ncalls %" PRIu64 "\nrest %" PRIu64 "\n",
	       sum->hot, sum->calls, sum->rest);
	printf("ticks_per_unit %.6f\n", ticks_per_unit());
	return fflush(stdout) ? 1 : 0;
}

pthread_t work_thread(void *(*run)(void *), void *data)
{
	pthread_t thread;

	check(pthread_create(&thread, NULL, run, data), "pthread_create");
	if (pin)
		keep_to_next_cpu(thread);
	return thread;
}

void work_join(pthread_t thread)
{
	check(pthread_join(thread, NULL), "pthread_join");
}

void queue_init(struct queue *queue, unsigned int capacity)
{
	if (sem_init(&queue->room, 0, capacity) ||
	    sem_init(&queue->filled, 0, 0))
		fail("sem_init: %s", strerror(errno));
}

static void take(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		if (errno != EINTR)
			fail("sem_wait: %s", strerror(errno));
}

void queue_push(struct queue *queue)
{
	take(&queue->room);
	sem_post(&queue->filled);
}

void queue_pop(struct queue *queue)
{
	take(&queue->filled);
	sem_post(&queue->room);
}
