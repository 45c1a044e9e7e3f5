/* SPDX-License-Identifier: GPL-2.0 */
/* The events of a recording, in the order in which they happened. */
#ifndef TOOLS_TRACE_READ_H
#define TOOLS_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/trace-record.h"

#define TRACE_NAME	16	/* bytes of a thread's name, with a 0 */

enum event_kind {
	EVENT_CHARGE = 1, EVENT_PERCENT, EVENT_DEADLINE, EVENT_GATE,
	EVENT_SWITCH, EVENT_WAKEUP, EVENT_MIGRATE, EVENT_FORK, EVENT_EXEC,
	EVENT_EXIT,
};

/* Times in ns: lvt, gvt, charged and when are virtual. */
struct event {
	uint64_t time;		/* real, since the kernel booted */
	size_t order;		/* in the recording */
	int32_t pid;		/* the thread it is about; 0: none */
	uint16_t cpu;		/* where it happened, or a charge's own */
	uint8_t kind;
	bool shut;		/* EVENT_GATE */
	uint32_t experiment;	/* the first four kinds have it */
	union {
		struct {
			uint64_t real;
			uint64_t charged;
			uint64_t lvt;
			uint64_t gvt;
			uint64_t ran;	/* by the program, in all */
		} charge;
		struct {
			uint64_t lvt;
			uint32_t percent;
		} percent;
		struct {
			uint64_t when;
			uint64_t gvt;
		} deadline;
		struct {
			uint64_t lvt;
			uint64_t gvt;
		} gate;
		/* From pid to next. */
		struct {
			int32_t next;
			bool blocked;
			char name[TRACE_NAME];
			char next_name[TRACE_NAME];
		} change;
		struct {
			uint16_t from;
			uint16_t to;
		} migrate;
		struct {
			int32_t child;
		} fork;
	};
};

struct trace {
	struct event *events;
	size_t count;
	uint64_t lost;		/* events that found no room */
	struct trace_begin begin;
};

/*
 * Reads the events of the launcher's experiment from a recording. Returns NULL,
 * or a description of the error, which the caller frees.
 */
char *trace_read(struct trace *t, const void *data, size_t size);
void trace_free(struct trace *t);

#endif
