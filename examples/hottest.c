// SPDX-License-Identifier: GPL-2.0
/*
 * Profile: the function with the most time need not be worth making faster.
 *
 * The program makes pages. For each page, one thread parses the text and lays it
 * out, and another one decodes the pictures. When both are done, the first thread
 * writes the page. decode() takes a third of the CPU time, more than any other
 * function. But parse() and layout() together take longer, so that a faster decode()
 * only makes its thread wait longer. write_page() takes less time, but nothing runs
 * beside it: the program gains all that it saves.
 *
 * From the top of the tree, after `make user`:
 *
 *	$ cc -O2 examples/hottest.c -pthread -o build/hottest
 *	$ build/bin/tense profile --cpus 2 --exclude main,decode_pictures --report hottest.html -- build/hottest
 */
#include <pthread.h>
#include <stdint.h>

#define PAGES		6
#define FUNCTION	__attribute__((noinline))

/* Steps of a call. parse() and layout() together take longer than decode(). */
#define PARSE		20000000
#define LAYOUT		10000000
#define DECODE		24000000
#define WRITE		14000000

static pthread_barrier_t barrier;
static volatile uint64_t text, pictures;

/* Each step needs the result of the one before, so that equal calls take equal time. */
static inline uint64_t work(uint64_t value, int steps)
{
	for (int i = 0; i < steps; i++)
		value = value * 6364136223846793005 + 1;
	return value;
}

FUNCTION void parse(void)
{
	text = work(text, PARSE);
}

FUNCTION void layout(void)
{
	text = work(text, LAYOUT);
}

FUNCTION void decode(void)
{
	pictures = work(pictures, DECODE);
}

FUNCTION void write_page(void)
{
	text = work(text ^ pictures, WRITE);
}

static void *decode_pictures(void *unused)
{
	for (int i = 0; i < PAGES; i++) {
		decode();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&thread, NULL, decode_pictures, NULL))
		return 1;
	for (int i = 0; i < PAGES; i++) {
		parse();
		layout();
		pthread_barrier_wait(&barrier);
		write_page();
		pthread_barrier_wait(&barrier);
	}
	return pthread_join(thread, NULL) ? 1 : 0;
}
