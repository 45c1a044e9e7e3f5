// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tense.h>
#include <time.h>

#include "barrier.h"
#include "racers.h"

static __attribute__((noreturn)) void fail(const struct racers *racers,
					   const char *what, int error)
{
	fprintf(stderr, "%s: %s: %s\n", racers->program, what,
		strerror(error));
	exit(1);
}

void *racers_memory(const char *program, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		fprintf(stderr, "%s: no memory for %zu bytes\n", program, size);
		exit(1);
	}
	return memory;
}

static void parse_list(struct racers *racers, enum racer_mode mode,
		       const char *list)
{
	const char *name = mode == BY_NICE ? "nice level" : "percent";
	int min = mode == BY_NICE ? -20 : TENSE_SCALE_MIN;
	int max = mode == BY_NICE ? 19 : TENSE_SCALE_MAX;

	racers->mode = mode;
	racers->count = 0;
	do {
		char *end;
		long value = strtol(list, &end, 10);

		if (end == list || (*end && *end != ',') || value < min ||
		    value > max || racers->count == RACERS_MAX) {
			fprintf(stderr,
				"%s: up to %d %ss from %d to %d are needed, not '%s'\n",
				racers->program, RACERS_MAX, name, min, max,
				list);
			exit(2);
		}
		racers->setting[racers->count++] = value;
		list = *end ? end + 1 : NULL;
	} while (list);
}

bool racers_take(struct racers *racers, int option, const char *list)
{
	if (option != RACERS_PERCENT && option != RACERS_NICE)
		return false;
	parse_list(racers, option == RACERS_NICE ? BY_NICE : BY_PERCENT, list);
	return true;
}

/* On a second CPU nobody would have to share. */
static void pin(const struct racers *racers)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		fail(racers, "cannot read the CPU affinity", errno);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail(racers, "cannot stay on one CPU", errno);
}

static void apply(const struct racers *racers, int racer)
{
	int setting = racers->setting[racer], error;

	if (racers->mode == BY_NICE) {
		if (setpriority(PRIO_PROCESS, 0, setting))
			fail(racers, "cannot set the nice level", errno);
		return;
	}
	error = tense_scale_percent(setting);
	if (error)
		fail(racers, "cannot set the percent", -error);
}

static void child(const struct racers *racers, int racer, void *shared,
		  struct barrier *barrier)
{
	/* An end of the parent must not leave spinning processes. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	apply(racers, racer);
	barrier_wait(barrier);
	racers->run(racer, shared);
	_exit(0);
}

void racers_run(const struct racers *racers, void *shared)
{
	struct barrier *barrier = racers_memory(racers->program,
						sizeof(*barrier));
	const struct timespec moment = { .tv_nsec = 2000000 };
	int failed = 0, status;

	pin(racers);
	fflush(NULL);
	for (int i = 0; i < racers->count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail(racers, "cannot start a process", errno);
		if (!pid)
			child(racers, i, shared, barrier);
	}
	/* One that could not start is seen here, before all wait for it. */
	while (barrier_ready(barrier) < racers->count) {
		nanosleep(&moment, NULL);
		if (waitpid(-1, &status, WNOHANG) > 0)
			exit(1);
	}
	/* The last of them still has to fall asleep. */
	nanosleep(&moment, NULL);
	if (racers->before)
		racers->before(shared);
	barrier_open(barrier);
	for (int i = 0; i < racers->count; i++)
		if (wait(&status) < 0 || status)
			failed = 1;
	munmap(barrier, sizeof(*barrier));
	if (failed) {
		fprintf(stderr, "%s: a process failed\n", racers->program);
		exit(1);
	}
}
