/* SPDX-License-Identifier: GPL-2.0 */
/* Interface between the kernel side and the host side of the hostfd driver. */
#ifndef __UM_HOSTFD_H
#define __UM_HOSTFD_H

#define HOSTFD_MAX	16

/* Result of hostfd_user_probe() for a descriptor. */
#define HOSTFD_READ	0x01	/* open for reading */
#define HOSTFD_WRITE	0x02	/* open for writing */
#define HOSTFD_POLL	0x04	/* can be waited for */
#define HOSTFD_SOCKET	0x08
#define HOSTFD_NONBLOCK	0x10
#define HOSTFD_SEEK	0x20

/* Events. The host reports HUP and ERR even if they are not asked for. */
#define HOSTFD_IN	0x01
#define HOSTFD_OUT	0x02
#define HOSTFD_HUP	0x04
#define HOSTFD_ERR	0x08

struct hostfd_event {
	int index;
	int events;
};

int hostfd_user_start(int *event_fd);
int hostfd_user_probe(int fd, int index);
int hostfd_user_arm(int fd, int index, int events);
int hostfd_user_poll(int fd);
long hostfd_user_read(int fd, int flags, void *buf, unsigned long len);
long hostfd_user_write(int fd, int flags, const void *buf, unsigned long len);
long long hostfd_user_seek(int fd, long long offset, int whence);
int hostfd_user_sync(int fd, int datasync);

#endif
