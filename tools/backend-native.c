// SPDX-License-Identifier: GPL-2.0
/* Runs the command here, on a kernel that has /dev/tense. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/tense.h>

#include "backend.h"
#include "paths.h"
#include "util.h"

extern char **environ;

static bool native_usable(void)
{
	return access(TENSE_DEVICE, R_OK | W_OK) == 0;
}

static int close_streams(void *arg, const char **what)
{
	const struct run *run = arg;

	(void)what;
	for (int i = 0; i < 3; i++)
		if (run->closed[i])
			close(i);
	return 0;
}

/* The shell is to see that the command stopped. */
static void stop_too(void *arg, int sig)
{
	(void)arg;
	(void)sig;
	raise(SIGSTOP);
}

static void native_run(const struct run *run, struct outcome *out,
		       void **stats)
{
	struct launch l = {
		.argv = run->argv,
		.env = run->real ? environ : preload_environment(),
		.percent = run->real ? 0 : run->percent,
		.choice = run->choice,
		.stats = run->stats,
		.tty = -1,
		.ignored = run->ignored,
		.mask = run->mask,
		.setup = close_streams,
		.stopped = stop_too,
		.arg = (void *)run,
	};

	if (!run->real && access(TENSE_DEVICE, R_OK | W_OK)) {
		if (errno == EACCES)
			die(STATUS_FAILED, TENSE_DEVICE ": permission denied: "
			    "add yourself to the group tense, or use --backend uml");
		die(STATUS_FAILED, TENSE_DEVICE ": %s: load tense.ko on a patched kernel, or use --backend uml",
		    strerror(errno));
	}
	launch(&l, out, stats);
}

const struct backend backend_native = {
	.name = "native",
	.probes = true,
	.usable = native_usable,
	.run = native_run,
};
