// SPDX-License-Identifier: GPL-2.0
#include "channels.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ending.h"
#include "run/proto.h"

/* A port is announced some time after its console. */
#define WAIT_STEP_US	1000
#define WAIT_STEPS	30000

static bool ports;
static bool one_way;

static int open_port(int channel, int mode)
{
	char path[32];

	snprintf(path, sizeof(path), PORT_DEVICE, PORT_FIRST + channel);
	return open(path, mode | O_CLOEXEC | O_NOCTTY);
}

static int open_hostfd(int channel, int mode)
{
	char path[32];

	snprintf(path, sizeof(path), HOSTFD_DEVICE, channel);
	return open(path, mode | O_CLOEXEC | O_NOCTTY);
}

/* Until the kernel has heard of it, a port looks as if tense were gone. */
static bool is_connected(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) >= 0 && !(poll_fd.revents & POLLHUP);
}

static int wait_for_port(int channel, int mode)
{
	int fd = open_port(channel, mode);

	for (int i = 0; i < WAIT_STEPS; i++) {
		if (fd >= 0 ? is_connected(fd) : errno != ENOENT)
			break;
		usleep(WAIT_STEP_US);
		if (fd < 0)
			fd = open_port(channel, mode);
	}
	return fd;
}

int channel_open_control(void)
{
	char path[32];
	int fd = open_hostfd(0, O_RDWR);

	one_way = !access(PACKED_REQUEST, F_OK);
	ports = fd < 0;
	if (ports)
		fd = wait_for_port(0, O_RDWR);
	if (fd < 0)
		fail("cannot open the channel to tense");
	/* The command has no business with it. */
	snprintf(path, sizeof(path), ports ? PORT_DEVICE : HOSTFD_DEVICE,
		 ports ? PORT_FIRST : 0);
	unlink(path);
	return fd;
}

bool channel_is_port(void)
{
	return ports;
}

bool channel_is_one_way(void)
{
	return one_way;
}

int channel_open(int channel, int mode)
{
	int fd = ports ? wait_for_port(channel, mode) :
			 open_hostfd(channel, mode);

	if (fd < 0)
		fail("cannot open channel %d to tense", channel);
	return fd;
}
