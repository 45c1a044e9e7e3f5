// SPDX-License-Identifier: GPL-2.0
/* Sockets with a limit on waiting, SO_RCVTIMEO and SO_SNDTIMEO, and recvmmsg. */
#include "timed.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { TCP = 1 };

static int open_pair(const struct timed_call *call, struct thing *thing)
{
	int type = call->variant ? call->variant : SOCK_STREAM, fds[2];

	if (socketpair(AF_UNIX, type, 0, fds))
		return -errno;
	thing->fd = fds[0];
	thing->peer = fds[1];
	return 0;
}

static void close_both(const struct timed_call *call, struct thing *thing)
{
	close(thing->fd);
	close(thing->peer);
}

union address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in tcp;
};

/*
 * A socket that listens, at an address that the kernel chooses, with room for
 * one connection.
 */
static int listener(int variant, union address *address, socklen_t *size)
{
	int fd = socket(variant == TCP ? AF_INET : AF_UNIX,
			SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(address, 0, sizeof(*address));
	if (variant == TCP) {
		address->tcp.sin_family = AF_INET;
		address->tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		*size = sizeof(address->tcp);
	} else {
		address->local.sun_family = AF_UNIX;
		*size = sizeof(sa_family_t);
	}
	if (fd < 0 || bind(fd, &address->any, *size) || listen(fd, 0))
		return -errno;
	*size = sizeof(*address);
	return getsockname(fd, &address->any, size) ? -errno : fd;
}

static int connect_to(const union address *address, socklen_t size)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 || connect(fd, &address->any, size) ? -errno : fd;
}

static int open_tcp(const struct timed_call *call, struct thing *thing)
{
	union address address;
	socklen_t size;
	int fd = listener(TCP, &address, &size);

	if (fd < 0)
		return fd;
	thing->peer = connect_to(&address, size);
	thing->fd = thing->peer < 0 ? -1 : accept(fd, NULL, NULL);
	close(fd);
	return thing->fd < 0 ? -errno : 0;
}

/* The limit of the socket; time as it is told to the call. */
static int limit(int fd, int option, struct timespec time)
{
	struct timeval limit = { time.tv_sec, time.tv_nsec / US };

	return setsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit)) ?
		       -errno : 0;
}

static int wait_recv(const struct timed_call *call, struct thing *thing,
		     struct timespec time, struct timespec *rest)
{
	int err = limit(thing->fd, SO_RCVTIMEO, time);
	char byte;
	long result;

	if (err)
		return err;
	result = call->raw ?
		 syscall(SYS_recvfrom, thing->fd, &byte, 1, 0, NULL, NULL) :
		 recv(thing->fd, &byte, 1, 0);
	return result > 0 ? WOKEN : ended(result, EAGAIN);
}

static void wake_recv(const struct timed_call *call, struct thing *thing)
{
	send(thing->peer, "", 1, 0);
}

static void fill(int fd, int peer)
{
	static char bytes[4096];

	/*
	 * Data on its way to the peer makes room for more, as do the peer's
	 * later acknowledgements.
	 */
	for (int tries = 0; tries < 5; tries++) {
		setsockopt(peer, IPPROTO_TCP, TCP_QUICKACK, &(int){ 1 },
			   sizeof(int));
		while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0 ||
		       send(fd, bytes, 1, MSG_DONTWAIT) > 0)
			tries = 0;
		nap(MS);
	}
}

/* Else they grow as the peers get to know each other. */
static void fix_buffers(int fd)
{
	static const int size = 16384;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int open_full_pair(const struct timed_call *call, struct thing *thing)
{
	int err = open_pair(call, thing);

	if (!err)
		fill(thing->fd, thing->peer);
	return err;
}

static int open_full_tcp(const struct timed_call *call, struct thing *thing)
{
	int err = open_tcp(call, thing);

	if (!err) {
		fix_buffers(thing->fd);
		fix_buffers(thing->peer);
		fill(thing->fd, thing->peer);
	}
	return err;
}

static int wait_send(const struct timed_call *call, struct thing *thing,
		     struct timespec time, struct timespec *rest)
{
	int err = limit(thing->fd, SO_SNDTIMEO, time);
	long result;

	if (err)
		return err;
	result = call->raw ?
		 syscall(SYS_sendto, thing->fd, "", 1, 0, NULL, 0) :
		 send(thing->fd, "", 1, 0);
	return result > 0 ? WOKEN : ended(result, EAGAIN);
}

static void wake_send(const struct timed_call *call, struct thing *thing)
{
	static char bytes[65536];

	while (recv(thing->peer, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static int open_listener(const struct timed_call *call, struct thing *thing)
{
	union address *address = calloc(1, sizeof(*address));
	socklen_t size;

	thing->fd = listener(call->variant, address, &size);
	thing->memory = address;
	thing->word = size;
	thing->peer = -1;
	return thing->fd < 0 ? thing->fd : 0;
}

static void close_listener(const struct timed_call *call, struct thing *thing)
{
	close_both(call, thing);
	free(thing->memory);
}

static int wait_accept(const struct timed_call *call, struct thing *thing,
		       struct timespec time, struct timespec *rest)
{
	int err = limit(thing->fd, SO_RCVTIMEO, time);
	long result;

	if (err)
		return err;
	result = call->raw ? syscall(SYS_accept4, thing->fd, NULL, NULL, 0) :
			     accept(thing->fd, NULL, NULL);
	if (result >= 0)
		close((int)result);
	return result >= 0 ? WOKEN : ended(result, EAGAIN);
}

static void wake_accept(const struct timed_call *call, struct thing *thing)
{
	thing->peer = connect_to(thing->memory, thing->word);
}

/* With one connection that nobody accepts, there is no room for another. */
static int open_full_listener(const struct timed_call *call,
			      struct thing *thing)
{
	struct pollfd there = { .events = POLLIN };
	int err = open_listener(call, thing);

	if (err)
		return err;
	thing->peer = connect_to(thing->memory, thing->word);
	there.fd = thing->fd;
	while (thing->peer >= 0 && poll(&there, 1, -1) != 1)
		;
	return thing->peer < 0 ? thing->peer : 0;
}

static int wait_connect(const struct timed_call *call, struct thing *thing,
			struct timespec time, struct timespec *rest)
{
	union address *address = thing->memory;
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err = limit(fd, SO_SNDTIMEO, time);
	long result;

	if (!err) {
		result = call->raw ?
			 syscall(SYS_connect, fd, address, thing->word) :
			 connect(fd, &address->any, thing->word);
		err = result == 0 ? WOKEN :
		      ended(result, call->variant == TCP ? EINPROGRESS : EAGAIN);
	}
	close(fd);
	return err;
}

static void wake_connect(const struct timed_call *call, struct thing *thing)
{
	close(accept(thing->fd, NULL, NULL));
}

/* The limit is looked at after each message only: others keep sending. */
static void *sender(void *arg)
{
	struct thing *thing = arg;

	while (!thing->stage) {
		send(thing->peer, "", 1, MSG_DONTWAIT);
		nap(300 * US);
	}
	return NULL;
}

static int wait_recvmmsg(const struct timed_call *call, struct thing *thing,
			 struct timespec time, struct timespec *rest)
{
	enum { MESSAGES = 1024 };
	static _Thread_local struct mmsghdr messages[MESSAGES];
	pthread_t thread;
	sigset_t all, before;
	long result;

	thing->stage = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_create(&thread, NULL, sender, thing);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*rest = time;
	result = call->raw ?
		 syscall(SYS_recvmmsg, thing->fd, messages, MESSAGES, 0, rest) :
		 recvmmsg(thing->fd, messages, MESSAGES, 0, rest);
	if (result < 0)
		result = -errno;
	thing->stage = 1;
	pthread_join(thread, NULL);
	return result < 0 ? (int)result :
	       rest->tv_sec || rest->tv_nsec ? WOKEN : TIMED_OUT;
}

/* In microseconds, then counted in ticks; negative ones do not wait. */
#define LIMIT .clock = CLOCK_MONOTONIC, .unit = US, .malformed = EDOM
#define LIMIT_FLAGS (ZERO_NEVER | NEGATIVE_PAST | JIFFIES | CANCELS | \
		     STOP_INTERRUPTS)
#define RECV LIMIT, .flags = LIMIT_FLAGS, .wait = wait_recv, \
	.wake = wake_recv, .close = close_both
#define SEND LIMIT, .flags = LIMIT_FLAGS, .wait = wait_send, \
	.wake = wake_send, .close = close_both
#define ACCEPT LIMIT, .flags = LIMIT_FLAGS, .wait = wait_accept, \
	.wake = wake_accept, .open = open_listener, .close = close_listener
#define CONNECT LIMIT, .flags = LIMIT_FLAGS, .wait = wait_connect, \
	.open = open_full_listener, .close = close_listener

static const struct timed_call calls[] = {
	LIBC_AND_RAW("recv with SO_RCVTIMEO, local", RECV, .open = open_pair),
	LIBC_AND_RAW("recv with SO_RCVTIMEO, local datagram", RECV, .open = open_pair,
		     .variant = SOCK_DGRAM),
	LIBC_AND_RAW("recv with SO_RCVTIMEO, TCP", RECV, .open = open_tcp),
	LIBC_AND_RAW("send with SO_SNDTIMEO, local", SEND, .open = open_full_pair),
	LIBC_AND_RAW("send with SO_SNDTIMEO, TCP", SEND, .open = open_full_tcp),
	LIBC_AND_RAW("accept with SO_RCVTIMEO, local", ACCEPT),
	LIBC_AND_RAW("accept with SO_RCVTIMEO, TCP", ACCEPT, .variant = TCP),
	LIBC_AND_RAW("connect with SO_SNDTIMEO, local", CONNECT, .wake = wake_connect),
	/* How soon it tries again is not the limit's business: not woken. */
	LIBC_AND_RAW("connect with SO_SNDTIMEO, TCP", CONNECT, .variant = TCP),
	LIBC_AND_RAW("recvmmsg", .clock = CLOCK_MONOTONIC,
		     .flags = IN_COMPANY, .open = open_pair,
		     .variant = SOCK_DGRAM, .wait = wait_recvmmsg,
		     .close = close_both),
};

const struct timed_calls socket_calls = { calls, ARRAY_LENGTH(calls) };
