// SPDX-License-Identifier: GPL-2.0
/*
 * hand-over TIMES: do two threads of one process run user code at the same time?
 *
 * The threads count up in turn, and spin until it is their turn. Neither makes a
 * system call. If only one at a time could be in user mode, each turn would need an
 * interrupt to stop the other thread.
 *
 * Prints the number of turns and of interrupts on all CPUs meanwhile. Fails if there
 * are less than 10 turns to an interrupt.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS_PER_INTERRUPT	10

static volatile unsigned long turns;
static unsigned long times;

/* Returns the sum of all lines of /proc/interrupts. */
static unsigned long interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	unsigned long sum = 0;
	char line[4096];

	if (!f)
		exit(2);
	while (fgets(line, sizeof(line), f)) {
		char *p = strchr(line, ':'), *end;

		if (!p)
			continue;
		for (p++; ; p = end) {
			unsigned long n = strtoul(p, &end, 10);

			if (end == p)
				break;
			sum += n;
		}
	}
	fclose(f);
	return sum;
}

static void *count(void *which)
{
	for (;;) {
		unsigned long now = turns;

		if (now >= times)
			return NULL;
		if (now % 2 == (unsigned long)which)
			turns = now + 1;
	}
}

int main(int argc, char **argv)
{
	unsigned long before;
	pthread_t thread;

	if (argc != 2)
		return 2;
	times = strtoul(argv[1], NULL, 10);
	before = interrupts();
	if (pthread_create(&thread, NULL, count, (void *)1))
		return 2;
	count((void *)0);
	pthread_join(thread, NULL);
	before = interrupts() - before;
	printf("turns %lu interrupts %lu\n", turns, before);
	return turns < TURNS_PER_INTERRUPT * before;
}
