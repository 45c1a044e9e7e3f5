// SPDX-License-Identifier: GPL-2.0
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

static const struct backend *const backends[] = {
	&backend_native,
	&backend_uml,
};

#define NR_BACKENDS (sizeof(backends) / sizeof(backends[0]))

bool backend_find(const char *name, const struct backend **backend)
{
	*backend = NULL;
	if (strcmp(name, "auto") == 0)
		return true;
	for (size_t i = 0; i < NR_BACKENDS && !*backend; i++)
		if (strcmp(backends[i]->name, name) == 0)
			*backend = backends[i];
	return *backend;
}

const struct backend *backend_choose(void)
{
	for (size_t i = 0; i < NR_BACKENDS; i++)
		if (backends[i]->usable())
			return backends[i];
	die(STATUS_FAILED, "no back end can be used: see tense check");
}

char *setup_directory(const char *text)
{
	char *path = realpath(text, NULL);
	struct stat st;

	if (!path || stat(path, &st))
		die(STATUS_FAILED, "--rw %s: %s", text, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		die(STATUS_FAILED, "--rw %s: not a directory", text);
	return path;
}

static int shorter(const void *a, const void *b)
{
	size_t la = strlen(*(char *const *)a), lb = strlen(*(char *const *)b);

	return (la > lb) - (la < lb);
}

/*
 * The current directory is writable, too, unless it is the root: that would
 * be everything. A directory comes before those in it, which it would hide.
 */
void setup_writable(struct run *run, char **dirs, size_t n)
{
	size_t kept = 0;

	if (strcmp(run->directory, "/") != 0)
		dirs[n++] = xstrdup(run->directory);
	qsort(dirs, n, sizeof(*dirs), shorter);
	for (size_t i = 0; i < n; i++) {
		size_t j;

		for (j = 0; j < kept && strcmp(dirs[j], dirs[i]) != 0; j++)
			;
		if (j == kept)
			dirs[kept++] = dirs[i];
		else
			free(dirs[i]);
	}
	dirs[kept] = NULL;
	run->writable = dirs;
}

void setup_caller(struct run *run)
{
	for (int i = 0; i < 3; i++) {
		run->closed[i] = fcntl(i, F_GETFD) < 0;
		/* Keeps other files from taking its place. */
		if (run->closed[i] && open("/dev/null", O_RDWR) != i)
			die(STATUS_FAILED, "/dev/null: %s", strerror(errno));
	}
	for (int sig = 1; sig < SIGRTMIN; sig++) {
		struct sigaction action;

		if (!sigaction(sig, NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			run->ignored |= 1ULL << (sig - 1);
	}
	sigprocmask(SIG_SETMASK, NULL, &run->mask);
}

int setup_status(const struct outcome *out, char **argv)
{
	switch (out->kind) {
	case OUTCOME_EXITED:
		return out->value;
	case OUTCOME_SIGNALED:
		return STATUS_SIGNAL + out->value;
	case OUTCOME_NOT_RUN:
		if (out->value == ENOENT && !strchr(argv[0], '/')) {
			warn("%s: command not found", argv[0]);
			return STATUS_NOT_FOUND;
		}
		warn("%s: %s", argv[0], strerror(out->value));
		return out->value == ENOENT ? STATUS_NOT_FOUND :
					      STATUS_NOT_EXECUTABLE;
	default:
		warn("%s", out->text);
		return STATUS_FAILED;
	}
}
