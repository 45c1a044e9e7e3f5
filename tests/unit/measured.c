// SPDX-License-Identifier: GPL-2.0
/*
 * A program of known process time, for tests of what is measured: measured
 * THREADS CHILDREN MS burns MS of CPU time in each of its threads and children.
 * Children are waited for, by their parent or by nobody (--unwaited). With
 * --other-group it moves to its parent's process group.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long ms;

static void *burn(void *arg)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < ms);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int nr_threads, nr_children;

	if (argc < 4)
		return 2;
	nr_threads = atoi(argv[1]);
	nr_children = atoi(argv[2]);
	ms = atol(argv[3]);
	/* As an option: the kernel then waits for them, and counts nothing. */
	if (argc > 4 && !strcmp(argv[4], "--unwaited"))
		signal(SIGCHLD, SIG_IGN);
	if (argc > 4 && !strcmp(argv[4], "--other-group") &&
	    setpgid(0, getpgid(getppid())))
		return 2;
	for (int i = 0; i < nr_children; i++) {
		if (fork() == 0) {
			burn(NULL);
			_exit(0);
		}
	}
	for (int i = 0; i < nr_threads && i < 16; i++)
		pthread_create(&threads[i], NULL, burn, NULL);
	for (int i = 0; i < nr_threads && i < 16; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
