// SPDX-License-Identifier: GPL-2.0
/*
 * spinners thread|process N MILLIONS: N threads or processes, each of which computes
 * as much. Prints how long that took, by the clock that it sees.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long times;
static volatile unsigned long result;

static void *spin(void *unused)
{
	unsigned long x = 1;

	for (unsigned long i = 0; i < times; i++)
		x = x * 6364136223846793005UL + 1;
	result = x;
	return unused;
}

static void spin_in_threads(int n)
{
	pthread_t *threads = calloc(n, sizeof(*threads));

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, spin, NULL))
			exit(2);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void spin_in_processes(int n)
{
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			spin(NULL);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double begin;

	if (argc != 4)
		return 2;
	times = strtoul(argv[3], NULL, 10) * 1000000;
	begin = now();
	if (strcmp(argv[1], "thread") == 0)
		spin_in_threads(atoi(argv[2]));
	else
		spin_in_processes(atoi(argv[2]));
	printf("%.4f\n", now() - begin);
	return 0;
}
