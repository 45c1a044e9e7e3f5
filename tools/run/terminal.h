/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The caller's terminal, when the command runs on a pseudo-terminal of its
 * own: input is read here, under the rules of job control, and sent on through
 * a pipe; output goes to the terminal directly.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <termios.h>

struct terminal {
	bool open;
	bool input;		/* standard input is it */
	bool raw;
	int fd;
	int pipe;		/* to the guest, -1 at the end */
	int key;		/* signal of the last key that sends a signal */
	struct termios saved;
	size_t start;
	size_t end;
	char buf[4096];
};

/* Returns the descriptor to read the input from, for the guest. */
int terminal_open(struct terminal *t, int fd, bool input);

/* Input goes raw to the guest from here on, if this is the foreground. */
void terminal_start(struct terminal *t);
void terminal_resume(struct terminal *t);
void terminal_restore(struct terminal *t);

/* The settings and the size that the guest's terminal gets. */
void terminal_get(struct terminal *t, struct termios *termios,
		  struct winsize *size);
bool terminal_size(struct terminal *t, struct winsize *size);

/* Two entries of poll(). */
void terminal_events(struct terminal *t, struct pollfd *polls);
void terminal_run(struct terminal *t, const struct pollfd *polls);
/*
 * SIGINT or SIGQUIT if the user pressed its key since the last call, else 0. The
 * key itself goes to the guest like any other.
 */
int terminal_take_key(struct terminal *t);

#endif
