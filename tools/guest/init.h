/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of guest-init, the first process of a guest:
 *
 *	guest-channels	the ways to tense
 *	guest-streams	the command's streams, where they have to be carried
 *	guest-mounts	the file systems
 *	guest-files	what the command wrote, where the host does not see it
 */
#ifndef TOOLS_GUEST_INIT_H
#define TOOLS_GUEST_INIT_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "run/proto.h"

struct setup {
	struct request r;
	gid_t *groups;
	char *module;
	char *module_options;
	char *directory;
	char *host_name;
	char **writable;
	char **argv;
	char **env;
	int fds[3];		/* the command's; -1: closed */
	int report;		/* the launcher's end of a pipe to init */
};

/* Tells tense why there will be no command, with errno, and ends the guest. */
void fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void power_off(void) __attribute__((noreturn));

/* The first to be opened, of a transport that is then known. */
int channel_open_control(void);
int channel_open(int channel, int mode);
/* Channels are ports, which carry streams and are none. */
bool channel_is_port(void);
/* There is no word from tense: all that it has to say was packed. */
bool channel_is_one_way(void);
int send_message(int fd, uint32_t type, const void *payload, uint32_t size,
		 const void *more, uint32_t more_size);

/* The file systems of the kernel, /tmp, and what can be written to. */
void mount_all(char *const *writable);

/* How many descriptors init polls for the streams that it moves itself. */
#define STREAM_POLLS	(2 * (CHANNELS_MAX - 1))

/* Fills in s->fds; master is that of a terminal that slave is of, or -1. */
void streams_open(struct setup *s, int control, int master, int slave);
/* The command has them, the guest's init no more. */
void streams_handed_over(struct setup *s);
/* In another process than init, which would keep them open. */
void streams_leave(void);
void streams_events(struct pollfd *polls);
void streams_run(const struct pollfd *polls);
/* Handles a message from tense that a stream ended. */
void streams_end(const struct end_message *m);
/* All that the command wrote has been moved. */
bool streams_drained(void);
/* Tells tense what the command read. */
void streams_finish(void);

/* The directories whose files were packed, before anything writes to them. */
void files_begin(char *const *writable);
/* Sends the changes to those files through this channel. */
void files_send(int channel);

#endif
