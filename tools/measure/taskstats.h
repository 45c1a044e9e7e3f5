/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPU times of tasks from the kernel's taskstats, by netlink: of those that
 * live, when asked, and of each one that exits, unasked.
 */
#ifndef MEASURE_TASKSTATS_H
#define MEASURE_TASKSTATS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nlmsghdr;

/*
 * A thread, and the CPU time that it had used at its last context switch or tick
 * of the timer: up to a tick less than it really has.
 */
struct task_time {
	pid_t tid;
	pid_t process;
	pid_t parent;		/* a process; 0 for the kernel's threads */
	char name[17];
	uint64_t ns;
};

struct task_source;

/*
 * Begins to listen to exits. NULL where that cannot be, and *why, which the
 * caller frees.
 */
struct task_source *taskstats_open(char **why);
void taskstats_close(struct task_source *source);

/* 0, or -1 if there is no such thread. */
int taskstats_query(struct task_source *source, pid_t tid, struct task_time *task);

/*
 * Hands on all exits since the last call. 0, or -1 if the kernel could not keep
 * all of them: some are lost.
 */
int taskstats_drain(struct task_source *source,
		    void (*exited)(void *arg, const struct task_time *task),
		    void *arg);

/* Reads a thread's times from a message: 0, or -1 if it is about no thread. */
int taskstats_parse(struct nlmsghdr *message, struct task_time *task);

#endif
