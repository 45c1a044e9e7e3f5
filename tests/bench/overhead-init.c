// SPDX-License-Identifier: GPL-2.0
/*
 * Runs dedup in an experiment and without the module, in turns within one
 * boot, so that nothing else differs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#define INPUT	"/dev/shm/input"
#define ARCHIVE	"/dev/shm/archive"

static void copy(const char *from, const char *to)
{
	static char buffer[1 << 20];
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT, 0644);
	ssize_t n;

	init_must(in >= 0, from);
	init_must(out >= 0, to);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		init_must(write(out, buffer, n) == n, to);
	init_must(!n, from);
	close(in);
	close(out);
}

static void run(char *dedup, char *preload)
{
	char *argv[] = { dedup, "-c", "-t", "2", "--stats", INPUT, ARCHIVE,
			 NULL };
	double start = init_machine_ns();
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	init_must(pid >= 0, "fork");
	if (!pid) {
		setenv("TENSE", preload ? "1" : "0", 1);
		if (preload) {
			setenv("TENSE_STRICT", "1", 1);
			setenv("LD_PRELOAD", preload, 1);
		}
		execv(dedup, argv);
		_exit(127);
	}
	init_must(waitpid(pid, &status, 0) == pid && !status, "run dedup");
	printf("machine_ns %.0f\n", init_machine_ns() - start);
}

static void run_experiment(char **argv, int round)
{
	init_load(argv[3], "");
	printf("run experiment %d\n", round);
	run(argv[1], argv[4]);
	init_unload();
}

static void run_plain(char **argv, int round)
{
	printf("run plain %d\n", round);
	run(argv[1], NULL);
}

int main(int argc, char **argv)
{
	if (init_argc(argc, argv) != 6) {
		fputs("Usage: overhead-init DEDUP INPUT MODULE LIBTENSE ROUNDS\n",
		      stderr);
		return 2;
	}
	init_mount();
	copy(argv[2], INPUT);
	puts("run warm-up 0");
	run(argv[1], NULL);
	for (int round = 0; round < atoi(argv[5]); round++) {
		if (round % 2) {
			run_plain(argv, round);
			run_experiment(argv, round);
		} else {
			run_experiment(argv, round);
			run_plain(argv, round);
		}
	}
	init_end();
}
