/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stops the other threads of the process while text is overwritten. There are
 * hardly ever any. Functions are redirected before main() and, in libraries
 * opened later, before a thread can run them. But a library may have started
 * threads earlier.
 *
 * A child that shares the memory stops the threads with ptrace(2). A signal would
 * have to be unblocked and unused, and its handler could run anywhere. The child
 * steps a thread on that is at an instruction to be overwritten.
 */
#ifndef LIBTENSE_REDIRECT_THREADS_H
#define LIBTENSE_REDIRECT_THREADS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes to be written to text. */
struct redirect_patch {
	uintptr_t at;
	unsigned int length;
	uint8_t bytes[8];
};

struct redirect_threads {
	int tracer;	/* 0: there are no other threads */
	void *state;
	sigset_t mask;	/* of the caller, whose signals are blocked meanwhile */
};

/* Returns NULL, or the reason why the threads cannot be stopped. */
const char *redirect_threads_stop(struct redirect_threads *threads,
			      const struct redirect_patch *patches, size_t count);
void redirect_threads_continue(struct redirect_threads *threads);

#endif
