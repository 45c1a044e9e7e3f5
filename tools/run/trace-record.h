/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records what the kernel does with the threads of an experiment: the events
 * of tense.ko and of the scheduler. On the kernel where it runs, as root.
 */
#ifndef TOOLS_TRACE_RECORD_H
#define TOOLS_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* A recording is a sequence of these, each with so many bytes behind it. */
struct trace_part {
	uint32_t kind;		/* enum trace_part_kind */
	uint32_t cpu;		/* the CPU of the pages */
	uint32_t page;		/* bytes of one */
	uint32_t size;
};

enum trace_part_kind {
	TRACE_PART_BEGIN = 1,	/* struct trace_begin */
	TRACE_PART_FORMAT,	/* name of a system, 0, text of an event's format */
	TRACE_PART_PAGES,	/* pages of a ring buffer, as in the kernel */
	TRACE_PART_LOST,	/* uint64_t events that found no room */
	TRACE_PART_SURVEY,	/* struct samples_begin */
	TRACE_PART_SAMPLES,	/* bytes of struct tense_samples and its records */
};

struct trace_begin {
	int32_t launcher;	/* in the experiment, but not of the program */
	int32_t program;	/* its first process */
	uint64_t time;		/* virtual, when it began */
};

enum { TRACE_INSTANCES = 2 };

struct trace_record {
	uint64_t buffer_kib;	/* per CPU, for each of two kinds of events */
	/* Gets each part; 0, or -1 with errno. */
	int (*take)(void *arg, const struct trace_part *part, const void *data);
	void *arg;
	/* From here on the recorder's own. */
	int tracefs;		/* directories, or -1 */
	int instance[TRACE_INSTANCES];
};

/*
 * Records the calling thread and all that it will create, and all experiments.
 * All return 0, or -1 with errno and what failed in *what. However far it came,
 * trace_record_end() is to follow.
 */
int trace_record_start(struct trace_record *r, const char **what);
int trace_record_stop(struct trace_record *r, const char **what);
/* Hands over the recording. */
int trace_record_send(struct trace_record *r, const struct trace_begin *begin,
		      const char **what);
void trace_record_end(struct trace_record *r);

#endif
