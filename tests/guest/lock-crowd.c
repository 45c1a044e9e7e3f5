// SPDX-License-Identifier: GPL-2.0
/*
 * lock-crowd N TIMES: one process, and then N at once, ask TIMES each to wait for a
 * futex that has another value. They all take the same spin lock of the kernel. Prints
 * the CPU time that this takes a process, in ns: alone and in the crowd.
 */
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t *word;
static unsigned long times;

static void ask(void)
{
	for (unsigned long i = 0; i < times; i++)
		syscall(SYS_futex, word, FUTEX_WAIT, *word + 1, NULL, NULL, 0);
}

static double children_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return 1e9 * (r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       1e3 * (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* Returns the CPU time of one call by one of so many processes. */
static double ns_of_call(int processes)
{
	double before = children_ns();
	int status;

	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(2);
		if (!pid) {
			ask();
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		if (status)
			exit(2);
	return (children_ns() - before) / times / processes;
}

int main(int argc, char **argv)
{
	double alone;

	if (argc != 3)
		return 2;
	times = strtoul(argv[2], NULL, 10);
	word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (word == MAP_FAILED)
		return 2;
	alone = ns_of_call(1);
	printf("%.0f %.0f\n", alone, ns_of_call(atoi(argv[1])));
	return 0;
}
