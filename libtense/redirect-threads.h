/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The other threads of the process, stopped while text is overwritten. There
 * are hardly ever any: functions are redirected before main() and, in libraries
 * opened later, before anybody can run them. But a library may have started
 * threads before.
 *
 * A child that shares the memory stops them with ptrace(2): a signal would have
 * to be unblocked and unused, and its handler could be called anywhere. A
 * thread that is at an instruction to be overwritten is stepped on.
 */
#ifndef LIBTENSE_REDIRECT_THREADS_H
#define LIBTENSE_REDIRECT_THREADS_H

#include <stddef.h>

struct redirect_patch;

struct redirect_threads {
	int tracer;	/* 0: there are no other threads */
	void *state;
};

/* NULL, or the reason why they cannot be stopped. */
const char *redirect_threads_stop(struct redirect_threads *threads,
			      const struct redirect_patch *patches, size_t count);
void redirect_threads_continue(struct redirect_threads *threads);

#endif
