/* SPDX-License-Identifier: GPL-2.0 */
/* Processes that take all the CPU time they can get. */
#ifndef PERIODS_HOGS_H
#define PERIODS_HOGS_H

#include <sys/types.h>

#define HOGS_MAX	64

struct hogs {
	pid_t pids[HOGS_MAX];
	unsigned int count;
};

/*
 * Starts so many, on the CPUs that the caller may use; they end with it. 0, or
 * -1 after a message.
 */
int hogs_start(struct hogs *hogs, unsigned int count);
void hogs_stop(struct hogs *hogs);

#endif
