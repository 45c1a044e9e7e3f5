/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Carries the command's streams between tense and the ports of a virtual
 * machine: a socket for each, and messages with the numbers of bytes.
 */
#ifndef TOOLS_QEMU_STREAMS_H
#define TOOLS_QEMU_STREAMS_H

#include "guest.h"
#include "pump.h"

struct qemu_stream {
	struct pump pump;
	int channel;
	int machine;		/* the machine's end of the socket */
	bool input;		/* the command reads from it */
	bool over;
	off_t start;		/* the file's position before, or -1 */
	int file;		/* the file that has the position */
};

struct qemu_streams {
	struct guest *guest;
	struct qemu_stream stream[CHANNELS_MAX - 1];
	int nr;
	char *error;		/* the failed write and its reason */
};

/* For guest_streams(), with a struct qemu_streams that has a guest. */
void qemu_streams_add(void *arg, int channel, int fd, bool input);
/* For struct guest_ops, the same. */
void qemu_streams_end(void *arg, const struct end_message *m);
void qemu_streams_events(void *arg, struct pollfd *polls);
void qemu_streams_run(void *arg, const struct pollfd *polls);
bool qemu_streams_busy(void *arg);

#endif
