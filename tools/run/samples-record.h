/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets the kernel sample the threads of an experiment, and hands the samples over.
 * A member of the experiment calls this, on the kernel that runs the threads.
 */
#ifndef TOOLS_SAMPLES_RECORD_H
#define TOOLS_SAMPLES_RECORD_H

#include <stdint.h>
#include <sys/types.h>

#include "trace-record.h"

struct samples_ask {
	uint64_t period_ns;	/* virtual; 0: no samples */
	uint32_t kib;		/* memory for them */
	uint32_t stack;		/* bytes of each stack to look at */
	uint32_t seed;		/* of the random instants */
};

/* A recording of samples begins with this. */
struct samples_begin {
	int32_t launcher;	/* in the experiment, but not of the program */
	int32_t program;	/* its first process */
	char comm[16];		/* its name before it executes the program */
};

struct samples_record {
	struct samples_ask ask;
	/* Gets each part; 0, or -1 with errno. */
	int (*take)(void *arg, const struct trace_part *part, const void *data);
	void *arg;
};

/* Both return 0, or -1 with errno. device: the calling thread is a member by it. */
int samples_start(const struct samples_record *r, int device);
int samples_send(const struct samples_record *r, int device, pid_t program);

#endif
