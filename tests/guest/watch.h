/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a test in a guest and adds one result to those that it prints: whether
 * the kernel logged a warning meanwhile.
 */
#ifndef TENSE_WATCH_H
#define TENSE_WATCH_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
 * Returns the text of a record that warns, and cuts the record behind it; NULL for any
 * other. Takes records that continue a line, which carry a "c", or those that begin one.
 */
static inline const char *log_text(char *record, bool continues)
{
	int priority, flags;
	char *text;

	if (sscanf(record, "%d,%*u,%*u,%n", &priority, &flags) != 1)
		return NULL;
	text = strchr(record, ';');
	if (!text || (priority & 7) > KERN_WARNING ||
	    (record[flags] == 'c') != continues)
		return NULL;
	text++;
	*strchrnul(text, '\n') = '\0';
	return text;
}

/*
 * A continued line has the default priority, that of a warning, if another CPU
 * logged in between: the line's first record has the real one.
 */
static inline const char *log_warning(char *record)
{
	return log_text(record, false);
}

/* After a warning, such a line may belong to it: the kernel names locks in them. */
static inline const char *log_continued(char *record)
{
	return log_text(record, true);
}

/* The plans and the results of all programs that have run so far. */
static int planned;
static int results;

static inline void watch_tell(const char *result, const char *what)
{
	printf("%s %d %s\n", result, ++results, what);
}

/* The plan is the last line, because each program has a part of it. */
static inline void watch_end(void)
{
	printf("1..%d\n", planned + 1);
}

/* Numbers results across programs. Drops plans, and makes a skip a result. */
static inline void watch_line(const char *line)
{
	const char *skip = strstr(line, "# SKIP");
	int plan, number = 0;

	if (sscanf(line, "1..%d", &plan) == 1) {
		planned += plan ? plan : 1;
		if (!plan)
			printf("ok %d %s", ++results, skip ? skip : "# SKIP\n");
	} else if (sscanf(line, "ok %*d%n", &number) == 0 && number) {
		printf("ok %d%s", ++results, line + number);
	} else if (sscanf(line, "not ok %*d%n", &number) == 0 && number) {
		printf("not ok %d%s", ++results, line + number);
	} else {
		fputs(line, stdout);
	}
}

/* Passes on the available output line by line. Returns false at its end. */
static inline bool watch_pass(int from, char line[RECORD_MAX], size_t *length)
{
	ssize_t n = read(from, line + *length, RECORD_MAX - 1 - *length);
	char *end;

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	*length += n;
	line[*length] = '\0';
	while ((end = strchr(line, '\n')) || *length == RECORD_MAX - 1) {
		size_t part = end ? (size_t)(end + 1 - line) : *length;
		char next = line[part];

		line[part] = '\0';
		watch_line(line);
		line[part] = next;
		*length -= part;
		memmove(line, line + part, *length + 1);
	}
	fflush(stdout);
	return true;
}

/*
 * Runs the program and returns its status. Waits for the program, because tasks
 * that it could not end may keep the pipe open.
 */
static inline int watch_run(char **argv)
{
	char line[RECORD_MAX] = "";
	struct pollfd from = { .events = POLLIN };
	size_t length = 0;
	int fds[2], status = -1;
	bool ended = false;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	from.fd = fds[0];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while (poll(&from, 1, 100) > 0 || !ended) {
		if (from.revents && !watch_pass(fds[0], line, &length))
			break;
		ended = ended || waitpid(pid, &status, WNOHANG) == pid;
	}
	fputs(line, stdout);
	if (!ended)
		waitpid(pid, &status, 0);
	return status;
}

#endif
