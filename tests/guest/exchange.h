/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two programs that were started separately send each other readings of the clock
 * over the loopback interface. A reading after a message has come is never earlier
 * than the reading in it (R9).
 */
#ifndef TENSE_EXCHANGE_H
#define TENSE_EXCHANGE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns a socket that listens at a port which the kernel chooses, or -1. */
static inline int exchange_listen(uint16_t *port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&at, &size))
		return -1;
	*port = ntohs(at.sin_port);
	return fd;
}

static inline int exchange_connect(uint16_t port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(port),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -1 : fd;
}

/*
 * Sends and receives so many messages, in turns; one side is the first to send.
 * Returns the number of early readings, or -1 after an error.
 */
static inline long exchange(int fd, long messages, bool first,
			    int64_t (*now)(void))
{
	long early = 0;
	int64_t given, reading;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (long i = 0; i < messages; i++) {
		if (first || i) {
			reading = now();
			if (write(fd, &reading, sizeof(reading)) != sizeof(reading))
				return -1;
		}
		if (recv(fd, &given, sizeof(given), MSG_WAITALL) != sizeof(given))
			return -1;
		early += now() < given;
	}
	if (first)
		return early;
	reading = now();
	return write(fd, &reading, sizeof(reading)) == sizeof(reading) ? early : -1;
}

#endif
