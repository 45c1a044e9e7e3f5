/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between tense and guest-init: a stream of messages, each a struct message
 * and its payload. Both ends are built together and run on one machine, so
 * structs travel as they are.
 */
#ifndef TOOLS_PROTO_H
#define TOOLS_PROTO_H

#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>

#define PROTO_VERSION	2

enum message_type {
	/* To the guest. */
	MESSAGE_REQUEST = 1,	/* struct request, groups, strings */
	MESSAGE_SIGNAL,		/* struct signal_message */
	MESSAGE_WINSIZE,	/* struct winsize */
	/* From the guest. */
	MESSAGE_STARTED,	/* the command runs */
	MESSAGE_STOPPED,	/* the command stopped, by int32_t signal */
	MESSAGE_OUTCOME,	/* struct outcome, statistics */
};

struct message {
	uint32_t type;
	uint32_t size;		/* of the payload */
};

/* The control channel is this device, the rest is up to the request. */
#define HOSTFD_CONTROL	"/dev/hostfd0"

/* Where a standard stream leads. */
enum {
	STREAM_CLOSED = -1,
	STREAM_TTY = -2,	/* the pseudo-terminal */
};

struct stream {
	int32_t hostfd;		/* index, or one of STREAM_ */
	int32_t mode;		/* O_RDONLY, O_WRONLY or O_RDWR */
};

struct request {
	uint32_t version;
	uint32_t percent;	/* 0: in real time */
	uint32_t device;	/* load the module, even if in real time */
	uint32_t stats;
	uint32_t uid;
	uint32_t gid;
	uint32_t umask;
	uint64_t ignored;	/* signals */
	uint64_t blocked;
	struct stream streams[3];
	int32_t tty_in;		/* hostfd indices, or STREAM_CLOSED */
	int32_t tty_out;
	struct termios termios;
	struct winsize winsize;
	struct rlimit limits[RLIM_NLIMITS];
	uint32_t groups;	/* gid_t each, then strings: */
	/* module, directory, host name, each of writable, argv, env */
	uint32_t writable;
	uint32_t argc;
	uint32_t envc;
};

struct signal_message {
	int32_t sig;
	int32_t group;		/* to the whole process group */
};

#endif
