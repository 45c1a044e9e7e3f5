// SPDX-License-Identifier: GPL-2.0
/*
 * kbest-ticks OTHERS: the cost of a timer interrupt that the K-best protocol subtracts,
 * in nanoseconds, beside so many processes that use what CPU they get. 0: K-best found
 * none. Run it on one CPU, as with taskset.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tense-measure.h>

#define OTHERS_MAX	64
/* Some 20 ms, which ticks interrupt. */
#define STEPS		10000000

static void work(void *arg)
{
	(void)arg;
	for (volatile uint64_t i = 0; i < STEPS; i++)
		;
}

static pid_t spin(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return pid;
}

int main(int argc, char **argv)
{
	int others = argc == 2 ? atoi(argv[1]) : -1, error;
	struct tense_kbest_result result;
	pid_t pid[OTHERS_MAX];

	if (others < 0 || others > OTHERS_MAX) {
		fputs("Usage: kbest-ticks OTHERS\n", stderr);
		return 2;
	}
	for (int i = 0; i < others; i++)
		pid[i] = spin();
	error = tense_kbest(work, NULL, NULL, &result);
	for (int i = 0; i < others; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	if (error)
		return 1;
	printf("%.0f\n", result.tick_ns);
	return fflush(stdout) ? 1 : 0;
}
