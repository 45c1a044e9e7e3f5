// SPDX-License-Identifier: GPL-2.0
#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/util.h"

#define CHUNK	65536
/* The largest message has the counters of all threads, see launch(). */
#define MESSAGE_MOST	(1U << 30)

void control_init(struct control *c, int fd)
{
	*c = (struct control){ .fd = fd };
}

void control_free(struct control *c)
{
	free(c->unsent);
	free(c->received);
	c->unsent = c->received = NULL;
}

static bool try_again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Ignores a failed send: a read finds the end after the guest's last message. */
static void flush(struct control *c)
{
	size_t sent = 0;
	ssize_t n;

	while (sent < c->unsent_len) {
		n = send(c->fd, c->unsent + sent, c->unsent_len - sent,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && try_again())
			break;
		sent = n < 0 ? c->unsent_len : sent + n;
	}
	c->unsent_len -= sent;
	memmove(c->unsent, c->unsent + sent, c->unsent_len);
}

static void append(struct control *c, const void *data, size_t size)
{
	if (!size)
		return;
	c->unsent = xrealloc(c->unsent, c->unsent_len + size);
	memcpy(c->unsent + c->unsent_len, data, size);
	c->unsent_len += size;
}

void control_send(struct control *c, uint32_t type, const void *payload,
		  size_t size)
{
	struct message m = { .type = type, .size = size };

	append(c, &m, sizeof(m));
	append(c, payload, size);
	flush(c);
}

void control_events(const struct control *c, struct pollfd *poll)
{
	*poll = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	if (c->unsent_len)
		poll->events |= POLLOUT;
}

static void receive(struct control *c)
{
	ssize_t n;

	c->received_len -= c->received_start;
	if (c->received_start)
		memmove(c->received, c->received + c->received_start,
			c->received_len);
	c->received_start = 0;
	c->received = xrealloc(c->received, c->received_len + CHUNK);
	n = recv(c->fd, c->received + c->received_len, CHUNK, MSG_DONTWAIT);
	if (n > 0)
		c->received_len += n;
	else if (n == 0 || !try_again())
		c->closed = true;
}

void control_run(struct control *c, const struct pollfd *poll)
{
	if (poll->revents & POLLOUT)
		flush(c);
	if (poll->revents & ~POLLOUT)
		receive(c);
}

bool control_next(struct control *c, struct message *m, const char **payload)
{
	const char *next = c->received + c->received_start;
	size_t left = c->received_len - c->received_start;

	if (left < sizeof(*m))
		return false;
	memcpy(m, next, sizeof(*m));
	/* Root in the guest sent a false size, and might send as many bytes. */
	if (m->size > MESSAGE_MOST) {
		c->closed = true;
		return false;
	}
	if (left - sizeof(*m) < m->size)
		return false;
	*payload = next + sizeof(*m);
	c->received_start += sizeof(*m) + m->size;
	return true;
}
