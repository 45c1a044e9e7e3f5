// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose latency is known: from request() to reply() is what hot() takes,
 * and as long again is rest(), outside. It tells what it sees by its own clock.
 *
 *	latency WHERE COUNT [AHEAD]
 *
 * WHERE request() and reply() are called: in one thread, in two, or in two
 * processes. AHEAD: requests that are made before the first reply.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define WORK 2000000

struct message {
	int64_t since;
};

static int count, ahead = 1;
static int there[2], back[2];

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void work(void)
{
	for (volatile int i = 0; i < WORK; i++)
		;
}

NOINLINE void hot(void)
{
	work();
	__asm__ volatile("");
}

NOINLINE void rest(void)
{
	work();
	__asm__ volatile("");
}

NOINLINE void request(struct message *m)
{
	m->since = now();
}

NOINLINE int64_t reply(const struct message *m)
{
	return now() - m->since;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void transfer(int fd, struct message *m, int out)
{
	if ((out ? write(fd, m, sizeof(*m)) : read(fd, m, sizeof(*m))) !=
	    sizeof(*m))
		die("pipe");
}

static void told(int64_t sum)
{
	printf("latency %lld\n", (long long)(sum / count));
	fflush(stdout);
}

static void *answer(void *unused)
{
	int64_t sum = 0;

	(void)unused;
	for (int i = 0; i < count; i++) {
		struct message m;

		transfer(there[0], &m, 0);
		hot();
		sum += reply(&m);
		transfer(back[1], &m, 1);
	}
	told(sum);
	return NULL;
}

static void ask(void)
{
	int waiting = 0;

	for (int i = 0; i < count; i++) {
		struct message m;

		rest();
		request(&m);
		transfer(there[1], &m, 1);
		if (++waiting == ahead) {
			transfer(back[0], &m, 0);
			waiting--;
		}
	}
	while (waiting--) {
		struct message m;

		transfer(back[0], &m, 0);
	}
}

static void in_one(void)
{
	int64_t sum = 0;

	for (int i = 0; i < count; i++) {
		struct message m;

		rest();
		request(&m);
		hot();
		sum += reply(&m);
	}
	told(sum);
}

static void in_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, answer, NULL))
		die("pthread_create");
	ask();
	pthread_join(thread, NULL);
}

static void in_processes(void)
{
	pid_t pid = fork();

	if (!pid) {
		answer(NULL);
		_exit(0);
	}
	ask();
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	count = atoi(argv[2]);
	if (argc > 3)
		ahead = atoi(argv[3]);
	if (pipe(there) || pipe(back))
		die("pipe");
	if (!strcmp(argv[1], "thread"))
		in_one();
	else if (!strcmp(argv[1], "threads"))
		in_threads();
	else
		in_processes();
	return 0;
}
