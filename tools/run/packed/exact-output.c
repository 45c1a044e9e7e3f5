// SPDX-License-Identifier: GPL-2.0
#include "exact-output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

/* The guest has to stop while the reader is more than this behind. */
#define FULL		(64 << 20)
/* Frees the part of the file that the reader took, in pieces of this size. */
#define PIECE		(1 << 20)

void output_init(struct output *o, int from, int to)
{
	*o = (struct output){ .from = from, .to = to };
}

static bool is_ready(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };

	return poll(&poll_fd, 1, 0) == 1;
}

static void release(struct output *o)
{
	if (o->taken - o->freed < PIECE)
		return;
	/* If it fails, the file only takes more memory. */
	fallocate(o->from, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		  o->freed, o->taken - o->freed);
	o->freed = o->taken;
}

void output_forward(struct output *o)
{
	/* A pipe that is ready takes as much. */
	char buf[PIPE_BUF];
	ssize_t n, done;

	while (!o->error && is_ready(o->to)) {
		n = pread(o->from, buf, sizeof(buf), o->taken);
		if (n <= 0)
			break;
		done = write(o->to, buf, n);
		if (done < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (done < 0)
			o->error = errno;
		else
			o->taken += done;
	}
	release(o);
}

static uint64_t backlog(const struct output *o)
{
	struct stat st;

	return o->error || fstat(o->from, &st) ? 0 : st.st_size - o->taken;
}

bool output_waits(const struct output *o)
{
	return backlog(o);
}

bool output_is_full(const struct output *o)
{
	return backlog(o) > FULL;
}
