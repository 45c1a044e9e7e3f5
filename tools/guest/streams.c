// SPDX-License-Identifier: GPL-2.0
/*
 * A port cannot be a command's standard stream: it can be opened once, and
 * nobody at its other end is told when it is closed. So the command gets pipes,
 * and init moves the bytes, as it does for a terminal.
 */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "channels.h"
#include "ending.h"
#include "run/pump.h"
#include "base/util.h"

struct carrier {
	struct pump pump;
	int channel;
	bool input;		/* the command reads from it */
	bool terminal;
	bool over;
	int pipe;		/* to tell what is left in it, or -1 */
};

static struct carrier carriers[CHANNELS_MAX - 1];
static int nr_carriers;
static int input_file = -1;	/* packed standard input */
static int control_fd = -1;

static struct carrier *add_carrier(int channel, bool input, int other)
{
	struct carrier *c = &carriers[nr_carriers++];
	int fd = channel_open(channel, (input ? O_RDONLY : O_WRONLY) |
				       O_NONBLOCK);

	c->channel = channel;
	c->input = input;
	c->pipe = -1;
	pump_init(&c->pump, input ? fd : other, input ? other : fd);
	return c;
}

/* The command's end of a pipe that the port's bytes go through. */
static int open_pipe(const struct setup *s, int channel, bool input)
{
	struct carrier *c;
	int ends[2], own, other;

	if (pipe2(ends, O_CLOEXEC))
		fail("pipe");
	own = ends[input];
	other = ends[!input];
	/* The user may open it anew, by /dev/stdout. */
	if (fchown(other, s->r.uid, s->r.gid) ||
	    fcntl(own, F_SETFL, O_NONBLOCK))
		fail("cannot set up a pipe");
	c = add_carrier(channel, input, own);
	if (input)
		c->pipe = own;
	return other;
}

static int open_input(const struct setup *s)
{
	input_file = open(PACKED_INPUT, O_RDONLY | O_CLOEXEC);
	if (input_file < 0)
		errno = ENOSPC;
	if (input_file < 0 || fchown(input_file, s->r.uid, s->r.gid))
		fail("the input was not unpacked: --memory gives the guest more");
	return input_file;
}

static int open_stream(struct setup *s, int i, int slave)
{
	const struct stream *stream = &s->r.streams[i];
	int fd;

	if (stream->channel == STREAM_TTY)
		return slave;
	if (stream->channel == STREAM_CLOSED)
		return -1;
	if (stream->channel == STREAM_FILE)
		return open_input(s);
	for (int j = 0; j < i; j++) {
		if (s->r.streams[j].channel != stream->channel)
			continue;
		fd = fcntl(s->fds[j], F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			fail("cannot duplicate a stream");
		return fd;
	}
	if (channel_is_port())
		return open_pipe(s, stream->channel, i == 0);
	return channel_open(stream->channel, stream->mode);
}

void streams_open(struct setup *s, int control, int master, int slave)
{
	control_fd = control;
	if (master >= 0) {
		add_carrier(s->r.tty_out, false, master)->terminal = true;
		add_carrier(s->r.tty_in, true, master)->terminal = true;
	}
	for (int i = 0; i < 3; i++)
		s->fds[i] = open_stream(s, i, slave);
}

void streams_handed_over(struct setup *s)
{
	for (int i = 0; i < 3; i++)
		if (s->r.streams[i].channel >= 0)
			close(s->fds[i]);
}

void streams_leave(void)
{
	for (int i = 0; i < nr_carriers; i++) {
		close(carriers[i].pump.from);
		close(carriers[i].pump.to);
	}
}

void streams_events(struct pollfd *polls)
{
	for (int i = 0; i < CHANNELS_MAX - 1; i++, polls += 2) {
		polls[0] = polls[1] = (struct pollfd){ .fd = -1 };
		if (i < nr_carriers && !carriers[i].over)
			pump_events(&carriers[i].pump, polls);
	}
}

static void tell_end(int channel, uint64_t bytes)
{
	struct end_message m = { .channel = channel, .bytes = bytes };

	if (channel_is_port())
		send_message(control_fd, MESSAGE_END, &m, sizeof(m), NULL, 0);
}

/*
 * The command sees the end of its input. A new reader keeps the pipe, to tell
 * tense how much the command left in it.
 */
static void close_input(struct carrier *c)
{
	char path[32];

	c->over = true;
	if (c->pipe < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->pipe);
	c->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	close(c->pump.to);
}

static void close_output(struct carrier *c)
{
	c->over = true;
	close(c->pump.from);
}

/* Bytes that the command's end of a pipe had when it was closed. */
static int left_in(const struct carrier *c)
{
	int left;

	return c->pipe < 0 || ioctl(c->pump.to, FIONREAD, &left) ? 0 : left;
}

static void carrier_run(struct carrier *c, const struct pollfd *polls)
{
	switch (pump_run(&c->pump, polls)) {
	case PUMP_EMPTY:
		if (c->input) {
			close_input(c);
		} else {
			tell_end(c->channel, c->pump.written);
			close_output(c);
		}
		break;
	case PUMP_NO_READER:
		if (c->input) {
			tell_end(c->channel, c->pump.written - left_in(c));
			if (!c->terminal)
				close(c->pump.to);
			c->pipe = -1;
			c->over = true;
		} else {
			close_output(c);
		}
		break;
	default:
		break;
	}
}

void streams_run(const struct pollfd *polls)
{
	for (int i = 0; i < nr_carriers; i++, polls += 2)
		if (!carriers[i].over)
			carrier_run(&carriers[i], polls);
}

void streams_end(const struct end_message *m)
{
	for (int i = 0; i < nr_carriers; i++) {
		struct carrier *c = &carriers[i];

		if (c->channel != m->channel || c->over)
			continue;
		if (!c->input)
			close_output(c);
		else if (c->pump.written >= m->bytes)
			close_input(c);
		else
			c->pump.limit = m->bytes;
	}
}

bool streams_drained(void)
{
	for (int i = 0; i < nr_carriers; i++)
		if (!carriers[i].input && !carriers[i].over)
			return false;
	return true;
}

void streams_finish(void)
{
	if (input_file >= 0)
		tell_end(STREAM_FILE, lseek(input_file, 0, SEEK_CUR));
	for (int i = 0; i < nr_carriers; i++) {
		struct carrier *c = &carriers[i];
		int left = 0;

		if (!c->input || c->pipe < 0)
			continue;
		if (ioctl(c->pipe, FIONREAD, &left))
			left = 0;
		tell_end(c->channel, c->pump.written - left);
	}
}
