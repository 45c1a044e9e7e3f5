// SPDX-License-Identifier: GPL-2.0
/*
 * Latency: how much sooner does a reply come if parse() is faster?
 *
 * A client thread sends requests, one at a time. A server thread parses each one,
 * renders the answer, and replies. parse() does twice the work of render(): if it
 * takes half the time, a reply comes about a third sooner.
 *
 * `tense whatif --latency A,B` needs two functions that it can name: on_request()
 * and on_reply(). It measures the virtual time from each call of the one to the
 * matching call of the other, in any thread. The functions need to do nothing, but
 * the compiler must not inline them.
 *
 * From the top of the tree, after `make user`:
 *
 *	$ cc -O2 examples/latency.c -pthread -o build/latency
 *	$ build/bin/tense whatif --func parse --faster 50% --latency on_request,on_reply -- build/latency
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define REQUESTS	100
#define PARSE_STEPS	600000
#define RENDER_STEPS	300000
#define FUNCTION	__attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool requested;
static volatile int requests, replies;

/* Each step needs the one before: equal calls take equal time wherever they are. */
__attribute__((noinline)) static void work(int steps)
{
	static volatile uint64_t result;
	uint64_t value = result;

	for (int i = 0; i < steps; i++)
		value = value * 6364136223846793005 + 1;
	result = value;
}

FUNCTION void on_request(void)
{
	requests++;
}

FUNCTION void on_reply(void)
{
	replies++;
}

FUNCTION void parse(void)
{
	work(PARSE_STEPS);
}

FUNCTION void render(void)
{
	work(RENDER_STEPS);
}

/* Waits until the other thread has set the flag to @value. */
static void take_turn(bool value)
{
	pthread_mutex_lock(&lock);
	while (requested != value)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void hand_over(bool value)
{
	pthread_mutex_lock(&lock);
	requested = value;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static void *server(void *unused)
{
	for (int i = 0; i < REQUESTS; i++) {
		take_turn(true);
		parse();
		render();
		on_reply();
		hand_over(false);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, server, NULL))
		return 1;
	for (int i = 0; i < REQUESTS; i++) {
		take_turn(false);
		on_request();
		hand_over(true);
	}
	pthread_join(thread, NULL);
	return 0;
}
