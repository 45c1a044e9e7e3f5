// SPDX-License-Identifier: GPL-2.0
/* Waits for descriptors: that of a pipe into which nobody writes. */
#include "timed.h"

#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static int open_pipe(const struct timed_call *call, struct thing *thing)
{
	int pipes[2];

	if (pipe(pipes))
		return -errno;
	thing->fd = pipes[0];
	thing->peer = pipes[1];
	return 0;
}

static void close_pipe(const struct timed_call *call, struct thing *thing)
{
	close(thing->fd);
	close(thing->peer);
}

static void wake_pipe(const struct timed_call *call, struct thing *thing)
{
	if (write(thing->peer, "", 1) != 1)
		return;
}

static int ready(long result)
{
	return result > 0 ? WOKEN : result == 0 ? TIMED_OUT : -errno;
}

static int to_ms(struct timespec time)
{
	int64_t ms = timespec_to_ns(time) / MS;

	return ms > INT_MAX ? INT_MAX : ms < INT_MIN ? INT_MIN : (int)ms;
}

static int wait_poll(const struct timed_call *call, struct thing *thing,
		     struct timespec time, struct timespec *rest)
{
	struct pollfd fd = { .fd = thing->fd, .events = POLLIN };
	int ms = to_ms(time);

	return ready(call->raw ? syscall(SYS_poll, &fd, 1, ms) :
				 poll(&fd, 1, ms));
}

static int wait_ppoll(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	struct pollfd fd = { .fd = thing->fd, .events = POLLIN };

	*rest = time;
	return ready(call->raw ? syscall(SYS_ppoll, &fd, 1, rest, NULL, 8) :
				 ppoll(&fd, 1, &time, NULL));
}

static int wait_select(const struct timed_call *call, struct thing *thing,
		       struct timespec time, struct timespec *rest)
{
	struct timeval left = { time.tv_sec, time.tv_nsec / US };
	fd_set fds;
	long result;

	FD_ZERO(&fds);
	FD_SET(thing->fd, &fds);
	if (call->raw)
		result = syscall(SYS_select, thing->fd + 1, &fds, NULL, NULL,
				 &left);
	else
		result = select(thing->fd + 1, &fds, NULL, NULL, &left);
	*rest = (struct timespec){ left.tv_sec, left.tv_usec * US };
	return ready(result);
}

static int wait_pselect(const struct timed_call *call, struct thing *thing,
			struct timespec time, struct timespec *rest)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(thing->fd, &fds);
	*rest = time;
	if (call->raw)
		return ready(syscall(SYS_pselect6, thing->fd + 1, &fds, NULL,
				     NULL, rest, NULL));
	return ready(pselect(thing->fd + 1, &fds, NULL, NULL, &time, NULL));
}

static int open_epoll(const struct timed_call *call, struct thing *thing)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err = open_pipe(call, thing);

	if (err)
		return err;
	event.data.fd = thing->fd;
	thing->word = epoll_create1(EPOLL_CLOEXEC);
	return epoll_ctl((int)thing->word, EPOLL_CTL_ADD, thing->fd, &event) ?
		       -errno : 0;
}

static void close_epoll(const struct timed_call *call, struct thing *thing)
{
	close((int)thing->word);
	close_pipe(call, thing);
}

static int wait_epoll(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	struct epoll_event event;
	int fd = (int)thing->word, ms = to_ms(time);

	switch (call->variant) {
	case 0:
		return ready(call->raw ?
			     syscall(SYS_epoll_wait, fd, &event, 1, ms) :
			     epoll_wait(fd, &event, 1, ms));
	case 1:
		return ready(call->raw ?
			     syscall(SYS_epoll_pwait, fd, &event, 1, ms, NULL, 8) :
			     epoll_pwait(fd, &event, 1, ms, NULL));
	default:
		return ready(call->raw ?
			     syscall(SYS_epoll_pwait2, fd, &event, 1, &time,
				     NULL, 8) :
			     epoll_pwait2(fd, &event, 1, &time, NULL));
	}
}

#define PIPE .clock = CLOCK_MONOTONIC, .open = open_pipe, .wake = wake_pipe, \
	.close = close_pipe
#define EPOLL .clock = CLOCK_MONOTONIC, .open = open_epoll, .wake = wake_pipe, \
	.close = close_epoll, .wait = wait_epoll
/* Milliseconds in an int: negative ones are for ever. */
#define IN_MS .unit = MS, .longest = INT_MAX / 1000
#define MS_FLAGS (NO_FRACTION | NEGATIVE_NEVER | CANCELS)

static const struct timed_call calls[] = {
	LIBC_AND_RAW("poll", PIPE, IN_MS, .flags = MS_FLAGS, .wait = wait_poll),
	{ "ppoll", PIPE, .flags = CANCELS, .wait = wait_ppoll },
	{ "ppoll", PIPE, .raw = true, .flags = REST, .wait = wait_ppoll },
	LIBC_AND_RAW("select", PIPE, .unit = US, .flags = REST | CANCELS | CARRIES,
		     .wait = wait_select),
	{ "pselect", PIPE, .flags = CANCELS, .wait = wait_pselect },
	{ "pselect6", PIPE, .raw = true, .flags = REST, .wait = wait_pselect },
	LIBC_AND_RAW("epoll_wait", EPOLL, IN_MS,
		     .flags = MS_FLAGS | STOP_INTERRUPTS),
	LIBC_AND_RAW("epoll_pwait", EPOLL, IN_MS, .variant = 1,
		     .flags = MS_FLAGS | STOP_INTERRUPTS),
	LIBC_AND_RAW("epoll_pwait2", EPOLL, .variant = 2,
		     .flags = CANCELS | STOP_INTERRUPTS),
};

const struct timed_calls poll_calls = { calls, ARRAY_LENGTH(calls) };
