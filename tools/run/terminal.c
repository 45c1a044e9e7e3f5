// SPDX-License-Identifier: GPL-2.0
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

/* For exit() from anywhere. */
static struct terminal *to_restore;

static void restore_at_exit(void)
{
	if (to_restore)
		terminal_restore(to_restore);
}

static bool in_foreground(const struct terminal *t)
{
	pid_t group = tcgetpgrp(t->fd);

	/* Not our controlling terminal: nobody else's business either. */
	return group < 0 || group == getpgrp();
}

static void set(struct terminal *t, const struct termios *termios)
{
	sigset_t ttou, old;

	/* Otherwise a background process would stop here. */
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &old);
	/* Output that is underway was meant for the old settings. */
	tcsetattr(t->fd, TCSADRAIN, termios);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int terminal_open(struct terminal *t, int fd, bool input)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		die(STATUS_FAILED, "pipe: %s", strerror(errno));
	/* Standard output may be closed when this is still needed. */
	t->fd = fcntl(input ? 0 : fd, F_DUPFD_CLOEXEC, 3);
	if (t->fd < 0 || tcgetattr(t->fd, &t->saved))
		die(STATUS_FAILED, "cannot use the terminal: %s",
		    strerror(errno));
	t->open = true;
	t->input = input;
	t->pipe = ends[1];
	return ends[0];
}

void terminal_start(struct terminal *t)
{
	if (!t->open || !t->input)
		return;
	to_restore = t;
	atexit(restore_at_exit);
	terminal_resume(t);
}

void terminal_resume(struct terminal *t)
{
	struct termios raw = t->saved;

	if (!t->open || !t->input || t->raw || !in_foreground(t))
		return;
	/* Restore later what the shell or another job has set meanwhile. */
	tcgetattr(t->fd, &t->saved);
	raw = t->saved;
	cfmakeraw(&raw);
	set(t, &raw);
	t->raw = true;
}

void terminal_restore(struct terminal *t)
{
	if (!t->raw)
		return;
	set(t, &t->saved);
	t->raw = false;
}

void terminal_get(struct terminal *t, struct termios *termios,
		  struct winsize *size)
{
	memset(size, 0, sizeof(*size));
	memset(termios, 0, sizeof(*termios));
	if (!t->open)
		return;
	terminal_size(t, size);
	*termios = t->saved;
	/* A terminal that does not turn raw processes the output itself. */
	if (!t->input)
		termios->c_oflag &= ~OPOST;
}

bool terminal_size(struct terminal *t, struct winsize *size)
{
	return t->open && !ioctl(t->fd, TIOCGWINSZ, size);
}

void terminal_events(struct terminal *t, struct pollfd *polls)
{
	bool use = t->open && t->pipe >= 0;
	bool empty = t->start == t->end;

	polls[0].fd = use && t->raw && empty ? t->fd : -1;
	polls[0].events = POLLIN;
	polls[1].fd = use && !empty ? t->pipe : -1;
	polls[1].events = POLLOUT;
}

static void note_keys(struct terminal *t, size_t n)
{
	const cc_t *keys = t->saved.c_cc;

	if (!(t->saved.c_lflag & ISIG))
		return;
	for (size_t i = 0; i < n; i++) {
		cc_t key = t->buf[i];

		if (key == _POSIX_VDISABLE)
			continue;
		if (key == keys[VINTR])
			t->key = SIGINT;
		else if (key == keys[VQUIT])
			t->key = SIGQUIT;
	}
}

int terminal_take_key(struct terminal *t)
{
	int key = t->key;

	t->key = 0;
	return key;
}

void terminal_run(struct terminal *t, const struct pollfd *polls)
{
	ssize_t n;

	if (polls[0].revents) {
		n = read(t->fd, t->buf, sizeof(t->buf));
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		t->start = 0;
		t->end = n < 0 ? 0 : n;
		if (n <= 0)
			goto close;
		note_keys(t, n);
	}
	if (t->open && t->pipe >= 0 && t->start < t->end) {
		n = write(t->pipe, t->buf + t->start, t->end - t->start);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			goto close;
		t->start += n;
	}
	return;
close:
	/* The terminal or the guest is gone. */
	close(t->pipe);
	t->pipe = -1;
}
