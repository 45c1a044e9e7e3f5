/* SPDX-License-Identifier: GPL-2.0 */
/* Runs checks in a process of their own, for code that keeps static state. */
#ifndef TESTS_IN_CHILD_H
#define TESTS_IN_CHILD_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static void in_child(const char *name, void (*checks)(void))
{
	int result[2] = { 0, 0 }, ends[2], status = -1;
	pid_t pid;

	fflush(stdout);
	if (pipe(ends)) {
		ok(false, "%s: pipe", name);
		return;
	}
	pid = fork();
	if (!pid) {
		close(ends[0]);
		checks();
		result[0] = tap_run;
		result[1] = tap_failed;
		fflush(stdout);
		/* exit(), so that leaks are found. */
		exit(write(ends[1], result, sizeof(result)) !=
		     sizeof(result));
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], result, sizeof(result)) ==
	    (ssize_t)sizeof(result)) {
		tap_run = result[0];
		tap_failed = result[1];
	}
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		ok(false, "%s: ran to its end, status %#x", name, status);
}

#endif
