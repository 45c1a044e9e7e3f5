// SPDX-License-Identifier: GPL-2.0
#include "timed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

atomic_int signals_handled;

static void handle(int signal)
{
	signals_handled++;
}

void handle_signals(bool restart)
{
	struct sigaction action = {
		.sa_handler = handle,
		.sa_flags = restart ? SA_RESTART : 0,
	};

	sigaction(SIGUSR1, &action, NULL);
	signals_handled = 0;
}

bool thread_waits(pid_t tid)
{
	return thread_of_waits(getpid(), tid);
}

/* The state is the first letter after the name, which ends with the last ")". */
bool thread_of_waits(pid_t process, pid_t tid)
{
	char path[64], text[512], *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static void until_waits(struct helper *h)
{
	while (!h->done && !thread_waits(h->tid))
		nap(200 * US);
}

static void *help(void *arg)
{
	struct helper *h = arg;
	pid_t process = getpid();

	until_waits(h);
	if (h->help == HELP_SIGNAL && !h->done) {
		syscall(SYS_tgkill, process, h->tid, SIGUSR1);
		while (!h->done && !signals_handled)
			nap(200 * US);
		until_waits(h);
	}
	if (h->help != HELP_PESTER && h->call->wake && !h->done)
		h->call->wake(h->call, h->thing);
	/* A signal that came just before the wait has no effect on it. */
	while (!h->done) {
		if (h->help == HELP_PESTER || !h->call->wake)
			syscall(SYS_tgkill, process, h->tid, SIGUSR1);
		nap(MS);
	}
	return NULL;
}

void help_begin(struct helper *h, enum help kind, const struct timed_call *call,
		struct thing *thing)
{
	sigset_t all, before;

	*h = (struct helper){
		.tid = gettid(), .help = kind, .call = call, .thing = thing,
	};
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&h->thread, NULL, help, h))
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void help_end(struct helper *h)
{
	h->done = true;
	pthread_join(h->thread, NULL);
}
