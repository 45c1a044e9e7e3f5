// SPDX-License-Identifier: GPL-2.0
/* Part of guest-fuzz: prints the state of tasks that make no progress. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/mount.h>

static void print_file(pid_t tgid, pid_t tid, const char *name)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", tgid, tid, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		printf("#   %s: %s%s", name, line, strchr(line, '\n') ? "" : "\n");
	if (f)
		fclose(f);
}

/* Prints tense.ko's timers and the time of each CPU's next interrupt. */
static void print_timers(void)
{
	static const char *const parts[] = {
		"now at", "cpu: ", "timer_fn", "# expires", "expires_next",
		"next_event",
	};
	FILE *f = fopen("/proc/timer_list", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
			if (strstr(line, parts[i])) {
				printf("# %s", line);
				break;
			}
	if (f)
		fclose(f);
}

#define TRACING "/sys/kernel/tracing"
#define EVENTS_PRINTED 60

/* Prints the module's events of 200 ms: a deadline may fire for ever. */
static void print_events(void)
{
	char line[256];
	int count = 0;
	FILE *f;

	mount("tracefs", TRACING, "tracefs", 0, NULL);
	write_text(TRACING "/events/tense/enable", "1");
	pause_ns(200 * MS);
	write_text(TRACING "/events/tense/enable", "0");
	f = fopen(TRACING "/trace", "r");
	while (f && fgets(line, sizeof(line), f))
		if (line[0] != '#' && count++ < EVENTS_PRINTED)
			printf("# %s", line);
	printf("# %d events of the module in 200 ms\n", count);
	if (f)
		fclose(f);
}

/* Prints fields 3, 18 and 39, which follow the name: it may have spaces. */
static void print_state(pid_t tgid, pid_t tid)
{
	char path[64], line[512], state = '?';
	int priority = 0, cpu = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tgid, tid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1,
		       " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
		       &state, &priority, &cpu);
	printf("# %d of %d: %c priority %d cpu %d:", tid, tgid, state, priority, cpu);
	if (f)
		fclose(f);
}

#define CALLERS 4

/* Prints the functions in which the task waits, innermost first. */
static void print_callers(pid_t tgid, pid_t tid)
{
	char path[64], line[256], name[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stack", tgid, tid);
	f = fopen(path, "r");
	for (int i = 0; f && i < CALLERS && fgets(line, sizeof(line), f); i++)
		if (sscanf(line, "%*s %63s", name) == 1)
			printf(" %s", name);
	printf("\n");
	if (f)
		fclose(f);
}

static void print_line(pid_t tgid, pid_t tid)
{
	print_state(tgid, tid);
	print_callers(tgid, tid);
}

static void print_thread(pid_t tgid, pid_t tid)
{
	printf("# thread %d of %d\n", tid, tgid);
	print_file(tgid, tid, "stat");
	print_file(tgid, tid, "stack");
}

static void for_each_thread_of(pid_t pid, void (*print)(pid_t tgid, pid_t tid))
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			print(pid, atoi(entry->d_name));
	if (dir)
		closedir(dir);
}

/* Includes threads that have given their slot back, but have not exited. */
static void for_each_thread_in(pid_t group, void (*print)(pid_t tgid, pid_t tid))
{
	for (pid_t pid = 1; pid < 1 << 15; pid++)
		if (getpgid(pid) == group)
			for_each_thread_of(pid, print);
}

/*
 * Asks the kernel for backtraces of blocked tasks and of the CPUs, and for the
 * locks that tasks hold. debug-watch prints the answers at the end.
 */
static void ask_kernel(void)
{
	static const char *const questions[] = { "w", "l", "d" };

	for (size_t i = 0; i < ARRAY_LENGTH(questions); i++)
		write_text("/proc/sysrq-trigger", questions[i]);
}

/**
 * print_stuck() - print the state of all tasks, to tell why none makes progress
 * @group: process group of the tasks
 */
void print_stuck(pid_t group)
{
	/* A long log may lose its middle: begin with a line for each thread. */
	for_each_thread_in(group, print_line);
	for_each_thread_in(group, print_thread);
	ask_kernel();
	print_timers();
	print_events();
	for (int i = 0; i < TASKS_MAX; i++) {
		struct slot *s = &fuzz->slot[i];
		pid_t tid = tid_of(s->who), tgid = tgid_of(s->who);

		if (!tid)
			continue;
		printf("# slot %d: task %d of %d, operation %lu: %s\n", i, tid,
		       tgid, s->count, operation_of(s->operation)->name);
	}
}
