// SPDX-License-Identifier: GPL-2.0
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void pump_init(struct pump *p, int from, int to)
{
	int flags = fcntl(to, F_GETFL);

	p->from = from;
	p->to = to;
	p->read = p->written = 0;
	p->start = p->end = 0;
	p->limit = PUMP_UNLIMITED;
	/* A pipe that has room has room for so much. */
	p->chunk = flags >= 0 && flags & O_NONBLOCK ? sizeof(p->buf) : PIPE_BUF;
}

static bool is_full(const struct pump *p)
{
	return p->start < p->end;
}

void pump_events(const struct pump *p, struct pollfd *polls)
{
	/* A negative descriptor is left out of poll(). */
	polls[0].fd = is_full(p) || p->read >= p->limit ? -1 : p->from;
	polls[0].events = POLLIN;
	polls[0].revents = 0;
	/* poll() reports POLLERR even if not requested: the reader is gone. */
	polls[1].fd = p->to;
	polls[1].events = is_full(p) ? POLLOUT : 0;
	polls[1].revents = 0;
}

static bool try_again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* A socket's flags are shared with others, and stay as they are. */
static ssize_t take(int fd, void *buf, size_t size)
{
	ssize_t n = recv(fd, buf, size, MSG_DONTWAIT);

	return n < 0 && errno == ENOTSOCK ? read(fd, buf, size) : n;
}

static ssize_t give(int fd, const void *buf, size_t size)
{
	ssize_t n = send(fd, buf, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, buf, size) : n;
}

static bool fill(struct pump *p)
{
	ssize_t n = take(p->from, p->buf, sizeof(p->buf));

	if (n < 0 && try_again())
		return true;
	if (n <= 0)
		return false;
	p->start = 0;
	p->end = n;
	p->read += n;
	return true;
}

static bool empty(struct pump *p)
{
	size_t size = p->end - p->start;
	ssize_t n = give(p->to, p->buf + p->start,
			 size < p->chunk ? size : p->chunk);

	if (n < 0)
		return try_again();
	p->start += n;
	p->written += n;
	return true;
}

enum pump_state pump_run(struct pump *p, const struct pollfd *polls)
{
	if (polls[0].revents)
		return fill(p) ? PUMP_RUNS : PUMP_EMPTY;
	if (polls[1].revents && !is_full(p))
		errno = EPIPE;
	if (polls[1].revents && (!is_full(p) || !empty(p)))
		return PUMP_NO_READER;
	return !is_full(p) && p->read >= p->limit ? PUMP_EMPTY : PUMP_RUNS;
}
