/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tense's end of the control channel. A guest may hang at any point, in the
 * middle of a message too, so neither a read nor a write ever waits for it.
 */
#ifndef TOOLS_CONTROL_H
#define TOOLS_CONTROL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto.h"

struct control {
	int fd;			/* a socket */
	char *unsent;
	size_t unsent_len;
	char *received;
	size_t received_len;
	size_t received_start;	/* where the next message starts */
	bool closed;		/* the guest is gone */
};

void control_init(struct control *c, int fd);
void control_free(struct control *c);
/* Sends the message, or queues it for control_run() if the guest does not read. */
void control_send(struct control *c, uint32_t type, const void *payload,
		  size_t size);
void control_events(const struct control *c, struct pollfd *poll);
void control_run(struct control *c, const struct pollfd *poll);
/*
 * Takes the next whole message, if there is one. The payload, of m->size bytes,
 * is valid until control_run().
 */
bool control_next(struct control *c, struct message *m, const char **payload);

#endif
