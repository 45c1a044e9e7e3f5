// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "report.h"
#include "span.h"

#define NAME_SIZE	16	/* of PR_GET_NAME, with its end */

static bool wanted;
static char path[PATH_MAX];	/* empty: standard error */
static pthread_key_t key;
/* A child of fork() has another number, and has not reported. */
static _Thread_local pid_t reported;

/*
 * Opened for each line: the program may close any descriptor, or give its number to
 * a file of its own. By system calls: libc's functions are cancellation points, and
 * exit(3) must not be one.
 */
static int open_file(void)
{
	return syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT |
		       O_CLOEXEC | O_NOCTTY, 0666);
}

/* In one piece, so that no other line is in the middle of it. */
static void write_line(const char *line, size_t size)
{
	int fd = *path ? open_file() : STDERR_FILENO;

	if (fd < 0)
		return;
	syscall(SYS_write, fd, line, size);
	if (*path)
		syscall(SYS_close, fd);
}

/* Tabs separate the fields, and a line is a thread. */
static void get_name(char *name)
{
	name[0] = '\0';
	prctl(PR_GET_NAME, name);
	name[NAME_SIZE - 1] = '\0';
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			*name = '?';
}

static void put_line(pid_t thread, int64_t now, const struct timespec *cpu)
{
	char name[NAME_SIZE], line[128];
	int size;

	get_name(name);
	size = snprintf(line, sizeof(line), "%s\t%d\t%lld.%09lld\t%lld.%09ld\n",
			name, (int)thread, (long long)now / 1000000000,
			(long long)now % 1000000000, (long long)cpu->tv_sec,
			cpu->tv_nsec);
	write_line(line, size);
}

static void report(void)
{
	pid_t thread = syscall(SYS_gettid);
	struct timespec cpu = { 0 };
	struct tense_span before;
	int saved = errno;
	int64_t now;

	if (!wanted || reported == thread)
		return;
	reported = thread;
	now = tense_device_move(0);
	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu);
	/* R13: the rest is Tense's work. */
	if (now >= 0 && !__tense_span_rush(&before)) {
		put_line(thread, now, &cpu);
		__tense_span_end_slow(&before, 0);
	}
	errno = saved;
}

static void report_return(void *unused)
{
	(void)unused;
	report();
}

/* First: keys are destroyed in this order, and the others end the membership. */
__attribute__((constructor(101))) static void report_init(void)
{
	pthread_key_create(&key, report_return);
}

__attribute__((destructor)) static void report_exit(void)
{
	report();
}

/*
 * Makes the path absolute, also for programs that this one executes: they may begin
 * in another directory. Returns 0 or an error number.
 */
static int choose_file(const char *value)
{
	size_t size = strlen(value), at = 0;

	if (*value != '/') {
		if (!getcwd(path, sizeof(path)))
			return errno;
		at = strlen(path);
		path[at++] = '/';
	}
	if (at + size >= sizeof(path))
		return ENAMETOOLONG;
	memcpy(path + at, value, size + 1);
	setenv("TENSE_REPORT", path, 1);
	return 0;
}

static int try_file(const char *value)
{
	int err = choose_file(value), fd;

	if (err)
		return err;
	fd = open_file();
	if (fd < 0)
		return errno;
	syscall(SYS_close, fd);
	return 0;
}

void tense_report_start(void)
{
	/* A program with more privileges than its user writes no file for them. */
	const char *value = secure_getenv("TENSE_REPORT");
	int err = 0;

	if (!value || !*value || !strcmp(value, "0"))
		return;
	if (strcmp(value, "1") != 0)
		err = try_file(value);
	if (err) {
		fprintf(stderr, "libtense: TENSE_REPORT: %s: %s; no thread reports its time\n",
			value, strerror(err));
		return;
	}
	wanted = true;
	tense_report_watch();
}

bool tense_report_is_wanted(void)
{
	return wanted;
}

void tense_report_watch(void)
{
	pthread_setspecific(key, &wanted);
}
