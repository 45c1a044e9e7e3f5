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

#include "samples-record.h"

#define PROTO_VERSION	10

enum message_type {
	/* To the guest. */
	MESSAGE_REQUEST = 1,	/* struct request, groups, strings */
	MESSAGE_SIGNAL,		/* struct signal_message */
	MESSAGE_WINSIZE,	/* struct winsize */
	/* From the guest. */
	MESSAGE_STARTED,	/* the command runs */
	MESSAGE_TAKEN,		/* init received one MESSAGE_SIGNAL */
	MESSAGE_STOPPED,	/* the command stopped, by int32_t signal */
	MESSAGE_TRACE,		/* struct trace_part and what it is of */
	MESSAGE_OUTCOME,	/* struct outcome, statistics */
	/* Either way, of a stream that is carried by a port. */
	MESSAGE_END,		/* struct end_message */
};

struct message {
	uint32_t type;
	uint32_t size;		/* bytes of the payload */
};

/*
 * Channel 0 is the control channel; the request says what the others are.
 * A descriptor of the host's is the stream itself; a port of a virtio console
 * only carries it.
 */
#define HOSTFD_DEVICE	"/dev/hostfd%d"
#define PORT_DEVICE	"/dev/vport0p%d"
#define PORT_FIRST	1	/* 0 is the console's own */
#define CHANNELS_MAX	6	/* control, three streams, terminal in and out */

/* Tags of 9p file systems: the root and, by number, writable directories. */
#define TAG_ROOT	"tense-root"
#define TAG_WRITABLE	"tense-rw%d"

/*
 * A guest that does not see the host's files, and gets no message once it runs.
 * Its initial file system holds all its input.
 */
#define PACKED_DIRECTORY "/.tense"
#define PACKED_INIT	PACKED_DIRECTORY "/init"
#define PACKED_REQUEST	PACKED_DIRECTORY "/request"	/* its payload */
#define PACKED_INPUT	PACKED_DIRECTORY "/input"
#define PACKED_LIST	PACKED_DIRECTORY "/list"	/* struct packed_file */

/* Where a standard stream leads. */
enum {
	STREAM_CLOSED = -1,
	STREAM_TTY = -2,	/* the pseudo-terminal */
	STREAM_FILE = -3,	/* PACKED_INPUT */
};

struct stream {
	int32_t channel;	/* or one of STREAM_; two may share one */
	int32_t mode;		/* O_RDONLY, O_WRONLY or O_RDWR */
};

struct request {
	uint32_t version;
	uint32_t percent;	/* 0: in real time */
	uint32_t clocks;	/* struct clock_choice */
	uint32_t order;
	uint32_t idle;
	uint32_t device;	/* load the module, even if in real time */
	uint32_t stats;
	uint64_t trace_kib;	/* size of its buffers; 0: no events are recorded */
	struct samples_ask samples;
	uint32_t uid;
	uint32_t gid;
	uint32_t umask;
	uint64_t clock_ns;	/* time of day; 0: the guest knows */
	uint64_t ignored;	/* signals */
	uint64_t blocked;
	struct stream streams[3];
	int32_t tty_in;		/* channels, or STREAM_CLOSED */
	int32_t tty_out;
	int32_t files;		/* channel for files that changed, or -1 */
	struct termios termios;
	struct winsize winsize;
	struct rlimit limits[RLIM_NLIMITS];
	uint32_t groups;	/* gid_t each, then strings: */
	/*
	 * module, its options, directory, host name, experiment, preparation, input,
	 * writable, argv, env
	 */
	uint32_t writable;
	uint32_t argc;
	uint32_t envc;
};

/*
 * A file in a directory that the command may write to, its path behind it. The list
 * has the files as they were packed, in the order of strcmp(). The channel for files
 * has first those that are gone, the last one first. Then it has those that are new
 * or changed, with their contents, or the target of a link, behind the path. Its last
 * one is FILES_END.
 */
struct packed_file {
	int32_t directory;	/* its index among the writable ones */
	uint32_t mode;		/* as of stat(); 0: it is gone */
	uint32_t crc;		/* checksum of contents or target */
	uint32_t path;		/* bytes, from that directory on, and a null */
	uint64_t size;
	int64_t mtime;
};

#define FILES_END	(-1)

/*
 * From where a stream comes from: there are so many bytes in all. From where it
 * leads to: so many were taken, and there will be no reader for more.
 */
struct end_message {
	int32_t channel;
	uint64_t bytes;
};

/*
 * Init answers each with MESSAGE_TAKEN as soon as it reads it, so tense knows
 * that the guest reacts. The answer does not say that the command got it.
 */
struct signal_message {
	int32_t sig;		/* 0: init only answers */
	int32_t group;		/* to the whole process group */
};

#endif
