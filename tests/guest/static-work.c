// SPDX-License-Identifier: GPL-2.0
/*
 * A program to be linked statically. It calls hot() as often as the second argument
 * says, which takes a fixed part of the time. It does so alone, half of it in a child,
 * or in a child that executes the program anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noipa))

static volatile unsigned int sink;

static void turn(int n)
{
	while (n--)
		sink++;
}

FUNCTION static void hot(void)
{
	turn(600000);
}

FUNCTION static void cold(void)
{
	turn(400000);
}

static void work(int calls)
{
	while (calls--) {
		hot();
		cold();
	}
}

static int finish(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	int calls = argc == 3 ? atoi(argv[2]) : 0;
	char half[16];
	pid_t pid;

	if (calls < 2)
		return 2;
	if (!strcmp(argv[1], "alone")) {
		work(calls);
		return 0;
	}
	snprintf(half, sizeof(half), "%d", calls / 2);
	pid = fork();
	if (pid)
		return pid < 0 || (work(calls - calls / 2), finish(pid));
	if (!strcmp(argv[1], "exec"))
		execl("/proc/self/exe", argv[0], "alone", half, NULL);
	else
		work(calls / 2);
	_exit(strcmp(argv[1], "fork") != 0);
}
