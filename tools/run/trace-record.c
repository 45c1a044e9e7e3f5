// SPDX-License-Identifier: GPL-2.0
#include "trace-record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCES	"instances"
#define INSTANCE	"tense-"

/* The most of pages in one part. */
#define PART_BYTES	(64 * 1024)

/*
 * Two buffers, because the scheduler's events are filtered by the experiment's
 * threads. A charge may happen in another thread, of any process.
 */
static const struct {
	const char *suffix;
	bool follow;		/* only what is about the launcher's descendants */
} instances[TRACE_INSTANCES] = {
	{ "experiments", false },
	{ "threads", true },
};

static const struct {
	int instance;
	const char *system;
	const char *name;
} events[] = {
	{ 0, "tense", "tense_charge" },
	{ 0, "tense", "tense_percent" },
	{ 0, "tense", "tense_deadline" },
	{ 0, "tense", "tense_gate" },
	{ 1, "sched", "sched_switch" },
	{ 1, "sched", "sched_wakeup" },
	{ 1, "sched", "sched_wakeup_new" },
	{ 1, "sched", "sched_migrate_task" },
	{ 1, "sched", "sched_process_fork" },
	{ 1, "sched", "sched_process_exec" },
	{ 1, "sched", "sched_process_exit" },
};

#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

static int write_to(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC), result;

	if (fd < 0)
		return -1;
	result = write_full(fd, text, strlen(text));
	close(fd);
	return result;
}

/* Where it is not mounted, it is only for this process to see. */
static int open_tracefs(void)
{
	int fd = open(TRACEFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !faccessat(fd, INSTANCES, F_OK, 0))
		return fd;
	if (fd >= 0)
		close(fd);
	else if (errno != ENOENT)
		return -1;
	if (mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		return -1;
	fd = open(TRACEFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	umount2(TRACEFS, MNT_DETACH);
	return fd;
}

/* Removes the instances of a recorder that was killed. */
static void sweep(int tracefs)
{
	int fd = openat(tracefs, INSTANCES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		pid_t pid;

		if (strncmp(name, INSTANCE, strlen(INSTANCE)) != 0)
			continue;
		pid = atoi(name + strlen(INSTANCE));
		if (pid > 0 && kill(pid, 0) && errno == ESRCH)
			unlinkat(fd, name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

static void instance_path(int i, char *path, size_t size)
{
	snprintf(path, size, INSTANCES "/" INSTANCE "%d-%s", (int)getpid(),
		 instances[i].suffix);
}

/*
 * The clocks of several CPUs have to agree. With one CPU, the trace uses the
 * clock of the scheduler: in User-Mode Linux it stands still while the host
 * runs others. Both clocks are real in an experiment, too.
 */
static const char *clock_name(void)
{
	return sysconf(_SC_NPROCESSORS_CONF) == 1 ? "local" : "mono";
}

static int set_up(struct trace_record *r, int i, const char **what)
{
	int dir = r->instance[i];
	char number[24];

	*what = "cannot choose the clock of the trace";
	if (write_to(dir, "trace_clock", clock_name()))
		return -1;
	*what = "cannot set up the trace";
	/* Keep the first events: they tell what the rest is about. */
	if (write_to(dir, "options/overwrite", "0"))
		return -1;
	*what = "cannot have so large a --buffer";
	snprintf(number, sizeof(number), "%llu",
		 (unsigned long long)r->buffer_kib);
	if (write_to(dir, "buffer_size_kb", number))
		return -1;
	if (!instances[i].follow)
		return 0;
	*what = "cannot follow the program's threads";
	snprintf(number, sizeof(number), "%d", (int)getpid());
	return write_to(dir, "options/event-fork", "1") ||
	       write_to(dir, "set_event_pid", number) ? -1 : 0;
}

static int enable(struct trace_record *r, const char **what)
{
	static char text[80];
	char path[80];

	for (size_t i = 0; i < NR_EVENTS; i++) {
		snprintf(path, sizeof(path), "events/%s/%s/enable",
			 events[i].system, events[i].name);
		if (!write_to(r->instance[events[i].instance], path, "1"))
			continue;
		snprintf(text, sizeof(text), "this kernel does not tell %s",
			 events[i].name);
		*what = text;
		return -1;
	}
	return 0;
}

int trace_record_start(struct trace_record *r, const char **what)
{
	char path[64];

	for (int i = 0; i < TRACE_INSTANCES; i++)
		r->instance[i] = -1;
	*what = "cannot trace, for which root is needed, or --backend uml: " TRACEFS;
	r->tracefs = open_tracefs();
	if (r->tracefs < 0)
		return -1;
	sweep(r->tracefs);
	for (int i = 0; i < TRACE_INSTANCES; i++) {
		*what = "cannot trace, for which root is needed, or --backend uml: " TRACEFS "/" INSTANCES;
		instance_path(i, path, sizeof(path));
		if (mkdirat(r->tracefs, path, 0700))
			return -1;
		r->instance[i] = openat(r->tracefs, path,
					O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (r->instance[i] < 0 || set_up(r, i, what))
			return -1;
	}
	return enable(r, what);
}

int trace_record_stop(struct trace_record *r, const char **what)
{
	*what = "cannot stop the trace";
	for (int i = 0; i < TRACE_INSTANCES; i++)
		if (write_to(r->instance[i], "tracing_on", "0"))
			return -1;
	return 0;
}

static int send_part(struct trace_record *r, enum trace_part_kind kind,
		     uint32_t cpu, uint32_t page, const void *data, size_t size)
{
	struct trace_part part = {
		.kind = kind, .cpu = cpu, .page = page, .size = size,
	};

	return r->take(r->arg, &part, data);
}

/* The whole of a short file, as a string. */
static int read_text(int dir, const char *path, char *text, size_t room)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + len, room - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = '\0';
	return n;
}

static int send_formats(struct trace_record *r)
{
	char path[80], text[8192];

	for (size_t i = 0; i < NR_EVENTS; i++) {
		size_t system = strlen(events[i].system) + 1;

		memcpy(text, events[i].system, system);
		snprintf(path, sizeof(path), "events/%s/%s/format",
			 events[i].system, events[i].name);
		if (read_text(r->instance[events[i].instance], path,
			      text + system, sizeof(text) - system) ||
		    send_part(r, TRACE_PART_FORMAT, 0, 0, text,
			      system + strlen(text + system)))
			return -1;
	}
	return 0;
}

static int send_pages(struct trace_record *r, int dir, int cpu)
{
	static char buf[PART_BYTES];
	size_t page = sysconf(_SC_PAGESIZE), len = 0;
	int result = 0, error, fd;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	do {
		n = read(fd, buf + len, page);
		if (n > 0)
			len += page;
		if (len && (n <= 0 || len + page > sizeof(buf))) {
			result = send_part(r, TRACE_PART_PAGES, cpu, page, buf,
					   len);
			len = 0;
		}
	} while (n > 0 && !result);
	error = n < 0 && errno != EAGAIN ? errno : 0;
	close(fd);
	if (error) {
		errno = error;
		return -1;
	}
	return result;
}

static int send_lost(struct trace_record *r, int dir, int cpu)
{
	static const char *const counters[] = {
		"\noverrun: ", "\ncommit overrun: ", "\ndropped events: ",
	};
	char path[64], text[1024];
	uint64_t lost = 0;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu);
	if (read_text(dir, path, text, sizeof(text)))
		return -1;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const char *p = strstr(text, counters[i]);

		if (p)
			lost += strtoull(p + strlen(counters[i]), NULL, 10);
	}
	if (!lost)
		return 0;
	return send_part(r, TRACE_PART_LOST, cpu, 0, &lost, sizeof(lost));
}

static int send_cpus(struct trace_record *r, int dir)
{
	int fd = openat(dir, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	int result = list ? 0 : -1, cpu, error;

	while (!result && (entry = readdir(list)))
		if (!strncmp(entry->d_name, "cpu", 3) &&
		    isdigit((unsigned char)entry->d_name[3])) {
			cpu = atoi(entry->d_name + 3);
			result = send_lost(r, dir, cpu) ||
				 send_pages(r, dir, cpu) ? -1 : 0;
		}
	error = errno;
	if (list)
		closedir(list);
	errno = error;
	return result;
}

int trace_record_send(struct trace_record *r, const struct trace_begin *begin,
		      const char **what)
{
	*what = "cannot get the trace";
	if (send_part(r, TRACE_PART_BEGIN, 0, 0, begin, sizeof(*begin)) ||
	    send_formats(r))
		return -1;
	for (int i = 0; i < TRACE_INSTANCES; i++)
		if (send_cpus(r, r->instance[i]))
			return -1;
	return 0;
}

void trace_record_end(struct trace_record *r)
{
	char path[64];

	if (r->tracefs < 0)
		return;
	for (int i = 0; i < TRACE_INSTANCES; i++) {
		if (r->instance[i] >= 0)
			close(r->instance[i]);
		instance_path(i, path, sizeof(path));
		unlinkat(r->tracefs, path, AT_REMOVEDIR);
	}
	close(r->tracefs);
}
