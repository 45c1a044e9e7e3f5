// SPDX-License-Identifier: GPL-2.0
/*
 * Host side of the hostfd driver, see hostfd_kern.c.
 *
 * Processes outside, such as the shell, may share the description of a
 * descriptor, and with it O_NONBLOCK and O_ASYNC. So the driver neither sets
 * nor needs these flags. A helper process waits on an epoll set. Each
 * descriptor in it reports once, until it is armed again.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <os.h>
#include "hostfd.h"

static int epoll_fd = -1;
static int event_fds[2] = { -1, -1 };
static int kernel_pid;

static int events_from_host(unsigned int host)
{
	int events = 0;

	if (host & (EPOLLIN | EPOLLRDHUP))
		events |= HOSTFD_IN;
	if (host & EPOLLOUT)
		events |= HOSTFD_OUT;
	if (host & EPOLLHUP)
		events |= HOSTFD_HUP;
	if (host & EPOLLERR)
		events |= HOSTFD_ERR;
	return events;
}

/*
 * The helper shares the descriptors, but has an address space of its own,
 * because errno is per address space here.
 */
static int hostfd_helper(void *unused)
{
	struct hostfd_event out[HOSTFD_MAX];
	struct epoll_event in[HOSTFD_MAX];
	sigset_t all;
	int i, n;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != kernel_pid)
		return 1;

	for (;;) {
		n = epoll_wait(epoll_fd, in, HOSTFD_MAX, -1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 1;

		for (i = 0; i < n; i++) {
			out[i].index = in[i].data.u32;
			out[i].events = events_from_host(in[i].events);
		}
		/* Shorter than PIPE_BUF: the host writes all of it or nothing. */
		CATCH_EINTR(n = write(event_fds[1], out, n * sizeof(out[0])));
		if (n < 0)
			return 1;
	}
}

/* Starts the helper. Its events come as struct hostfd_event from *event_fd. */
int hostfd_user_start(int *event_fd)
{
	unsigned long stack;
	int err, pid;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -errno;

	err = os_pipe(event_fds, 1, 1);
	if (err)
		goto out_epoll;

	err = os_set_fd_block(event_fds[0], 0);
	if (err)
		goto out_pipe;

	kernel_pid = os_getpid();
	pid = run_helper_thread(hostfd_helper, NULL, CLONE_FILES, &stack);
	if (pid < 0) {
		err = pid;
		goto out_pipe;
	}

	*event_fd = event_fds[0];
	return pid;

out_pipe:
	close(event_fds[0]);
	close(event_fds[1]);
out_epoll:
	close(epoll_fd);
	return err;
}

/* Adds a descriptor to the set. Returns HOSTFD_ flags or -errno. */
int hostfd_user_probe(int fd, int index)
{
	struct epoll_event event = { .data.u32 = index };
	struct stat st;
	int mode, flags;

	mode = fcntl(fd, F_GETFL);
	if (mode < 0 || fstat(fd, &st) < 0)
		return -errno;

	switch (mode & O_ACCMODE) {
	case O_RDONLY:
		flags = HOSTFD_READ;
		break;
	case O_WRONLY:
		flags = HOSTFD_WRITE;
		break;
	default:
		flags = HOSTFD_READ | HOSTFD_WRITE;
		break;
	}
	if (mode & O_NONBLOCK)
		flags |= HOSTFD_NONBLOCK;
	if (S_ISSOCK(st.st_mode))
		flags |= HOSTFD_SOCKET;
	if (lseek(fd, 0, SEEK_CUR) >= 0)
		flags |= HOSTFD_SEEK;

	/*
	 * The host refuses a regular file with EPERM: it is always ready. A
	 * hangup may be reported before it is asked for, which does no harm.
	 */
	event.events = EPOLLONESHOT;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		flags |= HOSTFD_POLL;
	else if (errno != EPERM)
		return -errno;

	return flags;
}

/* Asks for one of @events. An event that is there already counts. */
int hostfd_user_arm(int fd, int index, int events)
{
	struct epoll_event event = { .data.u32 = index };

	event.events = EPOLLONESHOT;
	if (events & HOSTFD_IN)
		event.events |= EPOLLIN | EPOLLRDHUP;
	if (events & HOSTFD_OUT)
		event.events |= EPOLLOUT;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event) < 0)
		return -errno;
	return 0;
}

/* Returns the events that are there now. */
int hostfd_user_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
	int n;

	CATCH_EINTR(n = poll(&p, 1, 0));
	if (n < 0)
		return HOSTFD_ERR;
	/* The values are those of epoll. */
	return events_from_host(p.revents);
}

/*
 * Asks the host whether a descriptor would block. A process outside may still
 * be faster, and let the kernel wait. So users of this driver should pass file
 * descriptions of their own, opened with O_NONBLOCK.
 */
static int would_block(int fd, int flags, int event)
{
	if (!(flags & HOSTFD_POLL) ||
	    (flags & (HOSTFD_NONBLOCK | HOSTFD_SOCKET)))
		return 0;
	return !(hostfd_user_poll(fd) & (event | HOSTFD_HUP | HOSTFD_ERR));
}

long hostfd_user_read(int fd, int flags, void *buf, unsigned long len)
{
	long n;

	if (would_block(fd, flags, HOSTFD_IN))
		return -EAGAIN;
	if (flags & HOSTFD_SOCKET)
		CATCH_EINTR(n = recv(fd, buf, len, MSG_DONTWAIT));
	else
		CATCH_EINTR(n = read(fd, buf, len));
	return n < 0 ? -errno : n;
}

long hostfd_user_write(int fd, int flags, const void *buf, unsigned long len)
{
	long n;

	if (would_block(fd, flags, HOSTFD_OUT))
		return -EAGAIN;
	/* A pipe that is ready has room for PIPE_BUF; more could block. */
	if ((flags & HOSTFD_POLL) && !(flags & HOSTFD_NONBLOCK) &&
	    len > PIPE_BUF)
		len = PIPE_BUF;
	if (flags & HOSTFD_SOCKET)
		CATCH_EINTR(n = send(fd, buf, len,
				     MSG_DONTWAIT | MSG_NOSIGNAL));
	else
		CATCH_EINTR(n = write(fd, buf, len));
	return n < 0 ? -errno : n;
}

long long hostfd_user_seek(int fd, long long offset, int whence)
{
	offset = lseek64(fd, offset, whence);
	return offset < 0 ? -errno : offset;
}

int hostfd_user_sync(int fd, int datasync)
{
	return (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? -errno : 0;
}
