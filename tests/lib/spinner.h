/* SPDX-License-Identifier: GPL-2.0 */
/* A process that uses what CPU it gets, until its parent ends it or dies. */
#ifndef TESTS_SPINNER_H
#define TESTS_SPINNER_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static inline pid_t spinner_start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return pid;
}

static inline void spinner_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
