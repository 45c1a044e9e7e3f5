// SPDX-License-Identifier: GPL-2.0
/*
 * The API as the report prints it, and each of its functions in use. The prototypes
 * stand here once more, to the letter: they are the header's, or this does not
 * compile. test-published.sh compiles it with all warnings as errors, and runs it.
 */
#include <stdio.h>
#include <time.h>

#include <tense.h>

int tense_init(void);
int tense_destroy(void);
int tense_health_check(void);
int tense_scale_percent(int percent);
int tense_scale_pop(void);
int tense_scale_clear(void);
int tense_move(const struct timespec *delta);
int tense_time(struct timespec *time);
int tense_sleep(const struct timespec *duration);

static void compress(void)
{
	volatile int i;

	for (i = 0; i < 100000; i++)
		;
}

static void show(const char *name, int result)
{
	printf("%s %d\n", name, result);
}

/* Prints how much later it is than at the last call, in nanoseconds. */
static void show_time(const char *name)
{
	static struct timespec last;
	struct timespec now = { 0, 0 };
	long long passed;

	show("tense_time", tense_time(&now));
	passed = (long long)(now.tv_sec - last.tv_sec) * 1000000000LL +
		 (now.tv_nsec - last.tv_nsec);
	printf("%s_ns %lld\n", name, passed);
	last = now;
}

int main(void)
{
	const struct timespec jump = { 2, 250000000 };
	const struct timespec credit = { -1, 0 };
	const struct timespec nap = { 1, 500000000 };

	show("tense_health_check", tense_health_check());
	show("tense_init", tense_init());
	show_time("begin");
	show("tense_move", tense_move(&jump));
	show_time("jump");
	show("tense_sleep", tense_sleep(&nap));
	show_time("sleep");
	show("tense_scale_percent", tense_scale_percent(125));
	compress();
	show("tense_scale_pop", tense_scale_pop());
	show("tense_scale_pop", tense_scale_pop());
	show("tense_scale_clear", tense_scale_clear());
	show("tense_move", tense_move(&credit));
	show("tense_health_check", tense_health_check());
	show("tense_destroy", tense_destroy());
	return 0;
}
