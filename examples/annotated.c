// SPDX-License-Identifier: GPL-2.0
/*
 * Annotated C: the program says itself which part it imagines faster.
 *
 * parse() and compress() do the same work. main() runs compress() at another
 * percent, 125 by default: then it takes 20 % less virtual time. Each function
 * is timed by an ordinary clock, which shows virtual time.
 *
 * From the top of the tree, after `make user`:
 *
 *	$ cc -O2 -Ilibtense/include examples/annotated.c -Lbuild/lib -ltense -Wl,-rpath,$PWD/build/lib -o build/annotated
 *	$ build/bin/tense run -- build/annotated
 *	$ build/bin/tense run -- build/annotated 200
 *
 * Without /dev/tense the program runs in real time, after one warning:
 *
 *	$ build/annotated
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tense.h>
#include <time.h>

#define CHUNKS	40
#define WORK	2000000

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Each step needs the one before: equal calls take equal time wherever they are. */
__attribute__((noinline)) static void work(void)
{
	static volatile uint64_t result;
	uint64_t value = result;

	for (int i = 0; i < WORK; i++)
		value = value * 6364136223846793005 + 1;
	result = value;
}

static void parse(void)
{
	work();
}

static void compress(void)
{
	work();
}

int main(int argc, char **argv)
{
	int percent = argc > 1 ? atoi(argv[1]) : 125;
	long long parsing = 0, compressing = 0;

	/* libtense.so joins before main() if it is preloaded; this does it else. */
	tense_init();
	for (int i = 0; i < CHUNKS; i++) {
		long long begin = now(), middle;

		parse();
		middle = now();
		tense_scale_percent(percent);
		compress();
		tense_scale_pop();
		parsing += middle - begin;
		compressing += now() - middle;
	}
	printf("parse    %lld us\ncompress %lld us\n", parsing / 1000,
	       compressing / 1000);
	return 0;
}
