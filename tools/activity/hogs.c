// SPDX-License-Identifier: GPL-2.0
#include "hogs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

/* Wait until each of them has begun. */
#define START_US	50000

static void burn(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have ended before. */
	if (getppid() != parent)
		_exit(0);
	for (;;)
		__asm__ volatile("");
}

int hogs_start(struct hogs *hogs, unsigned int count)
{
	pid_t parent = getpid();

	hogs->count = 0;
	while (hogs->count < count) {
		pid_t pid = fork();

		if (pid == 0)
			burn(parent);
		if (pid < 0) {
			warn("trace-activity: cannot start %u processes: %s",
			     count, strerror(errno));
			hogs_stop(hogs);
			return -1;
		}
		hogs->pids[hogs->count++] = pid;
	}
	if (count)
		usleep(START_US);
	return 0;
}

void hogs_stop(struct hogs *hogs)
{
	for (unsigned int i = 0; i < hogs->count; i++) {
		kill(hogs->pids[i], SIGKILL);
		waitpid(hogs->pids[i], NULL, 0);
	}
	hogs->count = 0;
}
