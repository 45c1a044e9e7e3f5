// SPDX-License-Identifier: GPL-2.0
/*
 * A static program: no library can be loaded into it, and none is needed. The
 * kernel keeps virtual time for every task of an experiment.
 *
 * The program sleeps for an hour, and prints how long that took by its own clock.
 * `--idle skip` lets virtual time go to the next deadline while every task waits:
 * the run ends at once.
 *
 * From the top of the tree, after `make user`:
 *
 *	$ cc -O2 -static examples/static.c -o build/static
 *	$ build/bin/tense run --idle skip -- build/static
 *
 * `tense whatif` scales functions of a static program by the kernel's breakpoints.
 * User-Mode Linux has none, so name the other back end:
 *
 *	build/bin/tense whatif --backend qemu --func work --faster 20% -- build/static 0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WORK	20000000

__attribute__((noinline)) static void work(void)
{
	static volatile uint64_t result;
	uint64_t value = result;

	for (int i = 0; i < WORK; i++)
		value = value * 6364136223846793005 + 1;
	result = value;
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 3600;
	struct timespec begin, end;

	work();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	sleep(seconds);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("slept %ld s\n", (long)(end.tv_sec - begin.tv_sec));
	return 0;
}
