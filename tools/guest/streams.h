/* SPDX-License-Identifier: GPL-2.0 */
/* The command's streams, where init has to carry them. */
#ifndef TOOLS_GUEST_STREAMS_H
#define TOOLS_GUEST_STREAMS_H

#include <poll.h>
#include <stdbool.h>

#include "setup.h"

/* How many descriptors init polls for the streams that it moves itself. */
#define STREAM_POLLS	(2 * (CHANNELS_MAX - 1))

/* Fills in s->fds; master is that of a terminal that slave is of, or -1. */
void streams_open(struct setup *s, int control, int master, int slave);
/* Closes init's copies of the command's streams. */
void streams_handed_over(struct setup *s);
/* Closes the carried streams in a child of init, which would keep them open. */
void streams_leave(void);
void streams_events(struct pollfd *polls);
void streams_run(const struct pollfd *polls);
/* Handles a message from tense that a stream ended. */
void streams_end(const struct end_message *m);
/* All that the command wrote has been moved. */
bool streams_drained(void);
/* Tells tense what the command read. */
void streams_finish(void);

#endif
