/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recordings for tests: what tools/run/trace-record.c would hand over, with events
 * laid out as a 6.1 kernel does it.
 */
#ifndef FAKE_RECORDING_H
#define FAKE_RECORDING_H

#include "trace/read.h"

#define FAKE_PAGE	4096

struct fake_recording {
	char *data;
	size_t size;
};

void fake_part(struct fake_recording *r, enum trace_part_kind kind, uint32_t cpu,
	       uint32_t page, const void *data, size_t size);
/* The launcher, the program and the formats of all events. */
void fake_begin(struct fake_recording *r, int32_t launcher, int32_t program,
		uint64_t time);
/* The launcher, and only the format of sched_switch, with this place of a name. */
void fake_begin_switch(struct fake_recording *r, int32_t launcher, uint32_t offset,
		       uint32_t size);
/* A buffer's events, in the order of their times, as many pages as it takes. */
void fake_pages(struct fake_recording *r, uint32_t cpu,
		const struct event *events, size_t count);
/* As the kernel marks a page before which events were lost. */
void fake_missed(struct fake_recording *r, uint32_t cpu,
		 const struct event *events, size_t count);
void fake_lost(struct fake_recording *r, uint32_t cpu, uint64_t events);
void fake_free(struct fake_recording *r);

#endif
