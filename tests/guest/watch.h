/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a test in a guest and adds one result to those that it prints: whether
 * the kernel logged a warning meanwhile.
 */
#ifndef TENSE_WATCH_H
#define TENSE_WATCH_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORD_MAX 8192

/* Opens the kernel's log, for records from now on. */
static inline int log_open(void)
{
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	return kmsg >= 0 && lseek(kmsg, 0, SEEK_END) < 0 ? -1 : kmsg;
}

/*
 * The next one, "PRIORITY,NUMBER,TIME,FLAGS;TEXT\n" and what else belongs to it:
 * its length, 0 if there is none, or a negative errno, -EPIPE if some are lost.
 */
static inline ssize_t log_read(int kmsg, char record[RECORD_MAX])
{
	ssize_t n = read(kmsg, record, RECORD_MAX - 1);

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	record[n] = '\0';
	return n;
}

/* As of syslog(2): stack traces and reports of locks are warnings, too. */
#define KERN_WARNING	4

/*
 * Returns the text of a record that warns, and cuts the record behind it; NULL
 * for any other. A continued line ("c") has the default priority, that of a
 * warning, if another CPU logged in between: the line's first record has the
 * real one.
 */
static inline const char *log_warning(char *record)
{
	int priority, flags;
	char *text;

	if (sscanf(record, "%d,%*u,%*u,%n", &priority, &flags) != 1)
		return NULL;
	text = strchr(record, ';');
	if (!text || (priority & 7) > KERN_WARNING || record[flags] == 'c')
		return NULL;
	text++;
	*strchrnul(text, '\n') = '\0';
	return text;
}

/* As the test says. */
static int planned;

static inline void watch_tell(const char *result, const char *what)
{
	printf("%s %d %s\n", result, planned + 1, what);
}

/* Runs the program and returns its status; the plan counts one more result. */
static inline int watch_run(char **argv)
{
	char *line = NULL;
	size_t size = 0;
	int fds[2], status = -1;
	pid_t pid;
	FILE *from;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	from = fdopen(fds[0], "r");
	while (from && getline(&line, &size, from) > 0) {
		if (sscanf(line, "1..%d", &planned) == 1)
			printf("1..%d\n", planned + 1);
		else
			fputs(line, stdout);
		fflush(stdout);
	}
	free(line);
	waitpid(pid, &status, 0);
	return status;
}

#endif
