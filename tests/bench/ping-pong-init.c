// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes that wake each other through pipes, like `perf bench sched
 * pipe`: little but the scheduler's work.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/stats.h"
#include "init.h"

#define ROUNDS		15
#define TURNS		1000

static void turn(int from, int to)
{
	char byte = 0;

	init_must(read(from, &byte, 1) == 1, "read");
	init_must(write(to, &byte, 1) == 1, "write");
}

static void make_pipe(int *fds)
{
	fds[0] = fds[1] = -1;
	init_must(!pipe(fds), "pipe");
}

/* Machine time for a byte to go there and back. */
static double ping_pong(void)
{
	int there[2], back[2], status;
	double start, ns;
	char byte = 0;
	pid_t pid;

	make_pipe(there);
	make_pipe(back);
	fflush(stdout);
	pid = fork();
	init_must(pid >= 0, "fork");
	if (!pid) {
		for (int i = 0; i < TURNS; i++)
			turn(there[0], back[1]);
		_exit(0);
	}
	start = init_machine_ns();
	init_must(write(there[1], &byte, 1) == 1, "write");
	for (int i = 0; i < TURNS - 1; i++)
		turn(back[0], there[1]);
	init_must(read(back[0], &byte, 1) == 1, "read");
	ns = (init_machine_ns() - start) / TURNS;
	init_must(waitpid(pid, &status, 0) == pid && !status, "waitpid");
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
	return ns;
}

int main(void)
{
	double ns[ROUNDS];

	init_mount();
	ping_pong();
	for (int i = 0; i < ROUNDS; i++)
		ns[i] = ping_pong();
	printf("ping_pong_ns %.0f\n", stats_median(ns, ROUNDS));
	init_end();
}
