// SPDX-License-Identifier: GPL-2.0
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/progress.h"
#include "base/util.h"

extern char **environ;

/* The descriptor that a script gets for its progress. */
#define PROGRESS_FD	3
#define OPTIONS_MAX	8

static pid_t start(const char *part, char *const *options, bool shown,
		   int *out, int *progress)
{
	char *script = find_part(part), fd[8], *argv[OPTIONS_MAX + 5] = { "sh" };
	posix_spawn_file_actions_t actions;
	int out_pipe[2], progress_pipe[2], error, n = 1;
	pid_t pid;

	argv[n++] = script;
	for (int i = 0; i < OPTIONS_MAX && options[i]; i++)
		argv[n++] = options[i];
	snprintf(fd, sizeof(fd), "%d", PROGRESS_FD);
	if (shown) {
		argv[n++] = "--progress-fd";
		argv[n++] = fd;
	}
	if (access(script, R_OK))
		die(STATUS_FAILED, "%s: %s", script, strerror(errno));
	if (pipe2(out_pipe, O_CLOEXEC) || pipe2(progress_pipe, O_CLOEXEC))
		die(STATUS_FAILED, "pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY,
					 0);
	posix_spawn_file_actions_adddup2(&actions, out_pipe[1], 1);
	posix_spawn_file_actions_adddup2(&actions, progress_pipe[1],
					 PROGRESS_FD);
	error = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
	if (error)
		die(STATUS_FAILED, "/bin/sh: %s", strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	close(out_pipe[1]);
	close(progress_pipe[1]);
	*out = out_pipe[0];
	*progress = progress_pipe[0];
	free(script);
	return pid;
}

static char *read_all(int fd)
{
	size_t len = 0;
	char *text = NULL;
	ssize_t n;

	do {
		text = xrealloc(text, len + 4096);
		n = read(fd, text + len, 4095);
		if (n > 0)
			len += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	close(fd);
	text[len] = '\0';
	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	return text;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Shows the script's steps: a bar on a terminal, lines elsewhere. */
struct display {
	const char *what;
	bool terminal;
	struct progress progress;
	struct progress_log log;
};

/* "DONE TOTAL WHAT" */
static void show_step(struct display *d, const char *text)
{
	unsigned int done, total;
	char step[400], line[500];

	if (sscanf(text, "%u %u %399[^\n]", &done, &total, step) != 3)
		return;
	if (total)
		snprintf(line, sizeof(line), "%s %s, once", step, d->what);
	else
		snprintf(line, sizeof(line), "first use: %s", step);
	if (d->terminal)
		progress_show(&d->progress, done, total, line);
	else
		progress_log_show(&d->log, done, total, total ? line : step);
}

/* Shows the complete lines and returns the length of the incomplete rest. */
static size_t show_lines(struct display *d, char *buf, size_t len)
{
	char *line = buf, *end;

	while ((end = memchr(line, '\n', buf + len - line))) {
		*end = '\0';
		show_step(d, line);
		line = end + 1;
	}
	len = buf + len - line;
	memmove(buf, line, len);
	return len;
}

/* Returns when the script closes its end. */
static void show_progress(int fd, const char *what)
{
	struct display d = { .what = what, .terminal = isatty(STDERR_FILENO) };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[4096];
	size_t len = 0;
	ssize_t n = 1;

	while (n && len < sizeof(buf)) {
		int timeout = d.terminal ? -1 : progress_log_timeout_ms(&d.log);

		n = 1;
		if (poll(&p, 1, timeout) <= 0) {
			progress_log_wait(&d.log);
			continue;
		}
		n = read(fd, buf + len, sizeof(buf) - len);
		if (n > 0)
			len = show_lines(&d, buf, len + n);
		else if (n < 0 && errno != EINTR)
			break;
	}
	progress_end(&d.progress);
	close(fd);
}

char *script_try(const char *part, char *const *options, const char *what, int *exit_status)
{
	int out, progress, status;
	char *text;
	pid_t pid;

	pid = start(part, options, true, &out, &progress);
	show_progress(progress, what);
	text = read_all(out);
	status = wait_for(pid);
	if (WIFSIGNALED(status))
		die(STATUS_FAILED, "%s was stopped: %s", strrchr(part, '/') + 1,
		    strsignal(WTERMSIG(status)));
	*exit_status = WEXITSTATUS(status);
	if (!status && *text)
		return text;
	free(text);
	return NULL;
}

char *script_run(const char *part, char *const *options, const char *what)
{
	int exit_status;
	char *text = script_try(part, options, what, &exit_status);

	if (!text)
		exit(STATUS_FAILED);
	return text;
}

char *script_ask(const char *part, char *const *options, int *status)
{
	int out, progress;
	pid_t pid = start(part, options, false, &out, &progress);
	char *text = read_all(out);

	close(progress);
	*status = wait_for(pid);
	return text;
}
