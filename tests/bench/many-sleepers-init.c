// SPDX-License-Identifier: GPL-2.0
/*
 * many-sleepers-init MODULE ROUNDS: the cost of two threads of an experiment that
 * wake each other in turns. Few or many other threads of the experiment wait with a
 * time-out, each until a time of its own. There are two experiments at once. They
 * are measured in turns, in real time on the CPU, with Tense's own work. This is the
 * first program of a guest, because only that may have so many threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/tense.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/real-clock.h"
#include "init.h"

#define FEW		10
#define MANY		10000
#define TURNS		2000
#define HOUR_S		3600
#define STACK_SIZE	32768UL

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting;
static time_t begun;
static int there[2], back[2];

static void *wait_long(void *number)
{
	/* No clock is read, so that no page for that is mapped. */
	struct timespec until = { .tv_sec = begun + HOUR_S + (intptr_t)number };

	pthread_mutex_lock(&lock);
	waiting++;
	for (;;)
		pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &until);
	return NULL;
}

/* In one mapping: the guest is slow to make a new one beside many. */
static char *stacks(void)
{
	char *memory = mmap(NULL, MANY * STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	init_must(memory != MAP_FAILED, "map stacks");
	return memory;
}

static void start(int count)
{
	char *memory = stacks();
	pthread_attr_t own;
	pthread_t thread;
	bool all;

	pthread_attr_init(&own);
	for (int i = 0; i < count; i++) {
		pthread_attr_setstack(&own, memory + i * STACK_SIZE, STACK_SIZE);
		errno = pthread_create(&thread, &own, wait_long,
				       (void *)(intptr_t)i);
		init_must(!errno, "start a thread");
	}
	/* The last one to count itself gives up the lock by waiting. */
	do {
		usleep(1000);
		pthread_mutex_lock(&lock);
		all = waiting == count;
		pthread_mutex_unlock(&lock);
	} while (!all);
}

static void turn(int from, int to)
{
	char byte = 0;

	init_must(read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1, "pipe");
}

static void *answer(void *unused)
{
	for (int i = 0; i < TURNS; i++)
		turn(there[0], back[1]);
	return unused;
}

/* CPU time of all threads; those not measured sleep. */
static uint64_t cpu(int device)
{
	struct tense_stats stats;

	init_must(read(device, &stats, sizeof(stats)) == sizeof(stats),
		  TENSE_DEVICE);
	return stats.ran + stats.overhead;
}

static void measure(const char *variant, int round, int device)
{
	uint64_t ns = cpu(device);
	pthread_t thread;
	char byte = 0;

	init_must(!pthread_create(&thread, NULL, answer, NULL), "start a thread");
	init_must(write(there[1], &byte, 1) == 1, "pipe");
	for (int i = 1; i < TURNS; i++)
		turn(back[0], there[1]);
	init_must(read(back[0], &byte, 1) == 1, "pipe");
	pthread_join(thread, NULL);
	ns = cpu(device) - ns;
	printf("run %s %d\n", variant, round);
	printf("switch_ns %ju\n", (uintmax_t)(ns / (2 * TURNS)));
	fflush(stdout);
}

static void set_limit(const char *path)
{
	FILE *file = fopen(path, "w");

	init_must(file && fprintf(file, "%d", 2 * MANY) > 0 && !fclose(file),
		  path);
}

/* An experiment that measures when it is told to. */
struct experiment {
	const char *variant;
	int tell[2], done[2];
};

static void __attribute__((noreturn)) run(struct experiment *e, int sleepers)
{
	int device = open(TENSE_DEVICE, O_RDWR | O_CLOEXEC), round;

	init_must(device >= 0, TENSE_DEVICE);
	init_must(!pipe(there) && !pipe(back), "pipe");
	begun = libc_clock(CLOCK_MONOTONIC) / 1000000000;
	start(sleepers);
	while (read(e->tell[0], &round, sizeof(round)) == sizeof(round)) {
		measure(e->variant, round, device);
		init_must(write(e->done[1], &round, sizeof(round)) ==
			  sizeof(round), "pipe");
	}
	_exit(0);
}

static void begin(struct experiment *e, const char *variant, int sleepers)
{
	pid_t pid;

	e->variant = variant;
	init_must(!pipe(e->tell) && !pipe(e->done), "pipe");
	fflush(stdout);
	pid = fork();
	init_must(pid >= 0, "fork");
	if (!pid)
		run(e, sleepers);
}

static void let_measure(struct experiment *e, int round)
{
	init_must(write(e->tell[1], &round, sizeof(round)) == sizeof(round) &&
		  read(e->done[0], &round, sizeof(round)) == sizeof(round),
		  e->variant);
}

int main(int argc, char **argv)
{
	struct experiment few, many;
	int rounds;

	argc = init_argc(argc, argv);
	rounds = argc == 3 ? atoi(argv[2]) : 0;
	if (rounds < 1) {
		fputs("Usage: many-sleepers-init MODULE ROUNDS\n", stderr);
		return 2;
	}
	init_mount();
	init_load(argv[1], "");
	set_limit("/proc/sys/kernel/pid_max");
	set_limit("/proc/sys/kernel/threads-max");
	begin(&few, "few", FEW);
	begin(&many, "many", MANY);
	for (int i = 0; i < rounds; i++) {
		let_measure(i % 2 ? &few : &many, i);
		let_measure(i % 2 ? &many : &few, i);
	}
	init_end();
}
