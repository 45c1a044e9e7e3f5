/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes ran between two moments, and how long. */
#ifndef MEASURE_ACTIVITY_H
#define MEASURE_ACTIVITY_H

#include <stdbool.h>

#include "taskstats.h"

/* Threads in any order. */
struct image {
	struct task_time *tasks;
	size_t count;
};

void image_add(struct image *image, const struct task_time *task);
void image_free(struct image *image);

/* The CPU time of one process. */
struct activity {
	char name[17];
	pid_t process;
	uint64_t ns;
};

struct activities {
	struct activity *list;	/* the longest first */
	size_t count;
};

/*
 * Sums up the CPU time between two images, per process, including threads that
 * exited in between. Leaves out the processes in own, and those of their
 * descendants that have exited.
 */
void activities_between(struct activities *activities,
			const struct image *before, const struct image *after,
			const struct image *exited, const pid_t *own,
			size_t nr_own);
void activities_free(struct activities *activities);

/*
 * The CPU time of a process and its descendants, all of which have exited. A
 * process whose parent exited first is a child of reaper.
 */
uint64_t activity_of_tree(const struct image *exited, pid_t process,
			  pid_t reaper);

/*
 * Names kernel workers, which come and go, by their CPU: kworker/0:1H and
 * kworker/0:2 are both kworker/0.
 */
void activity_rename(char *name);

#endif
