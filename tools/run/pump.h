/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes on their way from one descriptor to another, as both are ready. */
#ifndef TOOLS_PUMP_H
#define TOOLS_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUMP_UNLIMITED	UINT64_MAX

struct pump {
	int from;
	int to;
	uint64_t read;		/* bytes */
	uint64_t written;
	uint64_t limit;		/* there will be no more than these */
	size_t chunk;		/* the largest write that does not block */
	size_t start;
	size_t end;
	char buf[32768];
};

enum pump_state {
	PUMP_RUNS,
	PUMP_EMPTY,		/* all that there was has been moved */
	PUMP_NO_READER,		/* errno says why a write failed */
};

void pump_init(struct pump *p, int from, int to);
/* Two entries of poll(). */
void pump_events(const struct pump *p, struct pollfd *polls);
enum pump_state pump_run(struct pump *p, const struct pollfd *polls);

#endif
