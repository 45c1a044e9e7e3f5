// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that take known shares of charged time: each jumps, so that the shares do
 * not depend on the machine. waiting() takes real time but is charged none.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tense.h"

#define MS 1000000LL

static volatile int sink;

/* Jumps by so many ns of virtual time. */
#define TAKES(name, ns) \
	__attribute__((noinline)) static void name(void) \
	{ \
		tense_move_ns(ns); \
		sink++; \
	}

TAKES(ten, 10 * MS)
TAKES(twenty, 20 * MS)
TAKES(thirty, 30 * MS)
TAKES(forty, 40 * MS)

__attribute__((noinline)) static void outer(void)
{
	ten();
	twenty();
	sink++;
}

__attribute__((noinline)) static void waiting(void)
{
	usleep(1000);
	sink++;
}

__attribute__((noinline)) static void work(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		outer();
		thirty();
		forty();
	}
	sink++;
}

static void *in_thread(void *rounds)
{
	work(*(int *)rounds);
	sink++;
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, status;
	pthread_t thread;
	pid_t child;

	work(rounds);
	for (int i = 0; i < 100; i++)
		waiting();
	if (pthread_create(&thread, NULL, in_thread, &rounds))
		return 1;
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		work(rounds);
		return 0;
	}
	waitpid(child, &status, 0);
	return status ? 1 : 0;
}
