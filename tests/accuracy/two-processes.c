// SPDX-License-Identifier: GPL-2.0
/* two-processes: one sends blocks through a pipe, the other calls hot(). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define BLOCK	4096

static char block[BLOCK];
static uint64_t units;

HOT void hot(void)
{
	work_spin(&meter_hot, units);
}

static __attribute__((noreturn)) void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void send(int to, unsigned int blocks)
{
	for (unsigned int i = 0; i < blocks; i++) {
		work_rest(700 * UNITS_US);
		if (write(to, block, BLOCK) != BLOCK)
			fail("write");
	}
	close(to);
}

static void receive(int from)
{
	ssize_t got;

	/* Writes of up to PIPE_BUF arrive in one piece. */
	while ((got = read(from, block, BLOCK)) == BLOCK) {
		work_enter();
		hot();
		work_leave();
	}
	if (got)
		fail("read");
}

int main(int argc, char **argv)
{
	int pipes[2], status;
	pid_t child;

	work_options(argc, argv);
	units = work_cut(1500 * UNITS_US);
	if (pipe(pipes))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		close(pipes[1]);
		receive(pipes[0]);
		work_done();
		_exit(0);
	}
	close(pipes[0]);
	send(pipes[1], work_times(200));
	work_done();
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	return work_report();
}
