// SPDX-License-Identifier: GPL-2.0
#include "qemu-streams.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

void qemu_streams_add(void *arg, int channel, int fd, bool input)
{
	struct qemu_streams *s = arg;
	struct qemu_stream *stream = &s->stream[s->nr++];
	struct stat st;
	int pair[2];

	guest_check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair),
		    "socketpair");
	*stream = (struct qemu_stream){
		.channel = channel, .machine = pair[1], .input = input,
		.file = fd, .start = -1,
	};
	if (input && !fstat(fd, &st) && S_ISREG(st.st_mode))
		stream->start = lseek(fd, 0, SEEK_CUR);
	pump_init(&stream->pump, input ? fd : pair[0], input ? pair[0] : fd);
}

/* Whoever is at the other end learns of it. */
static void close_stream(struct qemu_stream *stream)
{
	stream->over = true;
	/* A file's position is still to be set. */
	if (stream->start < 0)
		close(stream->file);
}

/* Nobody reads any more, which is not an error, or the disk is full. */
static void note_error(struct qemu_streams *s)
{
	if (errno != EPIPE && errno != ECONNRESET && !s->error)
		s->error = xprintf("cannot write what the command wrote: %s",
				   strerror(errno));
}

static void run(struct qemu_streams *s, struct qemu_stream *stream,
		const struct pollfd *polls)
{
	enum pump_state state = pump_run(&stream->pump, polls);

	if (state == PUMP_RUNS)
		return;
	if (stream->input && state == PUMP_EMPTY)
		guest_send_end(s->guest, stream->channel, stream->pump.written);
	if (!stream->input && state == PUMP_NO_READER) {
		note_error(s);
		guest_send_end(s->guest, stream->channel, stream->pump.written);
	}
	close_stream(stream);
}

void qemu_streams_events(void *arg, struct pollfd *polls)
{
	struct qemu_streams *s = arg;

	for (int i = 0; i < CHANNELS_MAX - 1; i++, polls += 2) {
		polls[0] = polls[1] = (struct pollfd){ .fd = -1 };
		if (i < s->nr && !s->stream[i].over)
			pump_events(&s->stream[i].pump, polls);
	}
}

void qemu_streams_run(void *arg, const struct pollfd *polls)
{
	struct qemu_streams *s = arg;

	for (int i = 0; i < s->nr; i++, polls += 2)
		if (!s->stream[i].over)
			run(s, &s->stream[i], polls);
}

/* Tense read ahead: sets a file's position back to what the command read. */
static void input_ended(struct qemu_stream *stream, uint64_t bytes)
{
	if (stream->start >= 0)
		lseek(stream->file, stream->start + bytes, SEEK_SET);
	if (!stream->over)
		close_stream(stream);
}

void qemu_streams_end(void *arg, const struct end_message *m)
{
	struct qemu_streams *s = arg;

	for (int i = 0; i < s->nr; i++) {
		struct qemu_stream *stream = &s->stream[i];

		if (stream->channel != m->channel)
			continue;
		if (stream->input)
			input_ended(stream, m->bytes);
		else if (!stream->over && stream->pump.written >= m->bytes)
			close_stream(stream);
		else
			stream->pump.limit = m->bytes;
	}
}

bool qemu_streams_busy(void *arg)
{
	const struct qemu_streams *s = arg;

	for (int i = 0; i < s->nr; i++)
		if (!s->stream[i].input && !s->stream[i].over)
			return true;
	return false;
}
