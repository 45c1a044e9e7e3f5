// SPDX-License-Identifier: GPL-2.0
/*
 * Part of guest-fuzz: processes outside of every experiment use timers that members
 * of one have armed and passed on. The experiment ends meanwhile.
 */
#include "fuzz.h"

#include <poll.h>
#include <sys/timerfd.h>

/* t->timer_fd is the timer that was received last. */
static long outside_receive(struct task *t)
{
	long fd = receive_fd();

	if (fd < 0)
		return fd;
	if (fd >= LAST_FD) {
		close_fd(t, fd);
		return -EMFILE;
	}
	t->timer_fd = fd;
	return 0;
}

static int any_held(struct task *t)
{
	return one_in(t, 2) ? t->timer_fd :
			      FIRST_FD + (int)below(t, LAST_FD - FIRST_FD);
}

/* Repeats the call until one comes while the experiment ends. */
static long outside_gettime(struct task *t)
{
	struct itimerspec left;
	long result = -EBADF;
	int fd = any_held(t);

	for (int i = below(t, 30); i >= 0; i--)
		result = call(SYS_timerfd_gettime, fd, &left);
	return result;
}

static long outside_settime(struct task *t)
{
	int64_t ns = any_bits(t, one_in(t, 4) ? 62 : 24);
	struct itimerspec timer = {
		.it_value = { ns / S, ns % S },
		.it_interval.tv_nsec = one_in(t, 2) ? any_bits(t, 29) : 0,
	}, old;

	return call(SYS_timerfd_settime, any_held(t),
		    one_in(t, 3) ? TFD_TIMER_ABSTIME : 0, &timer, &old);
}

/* Blocks only as long as poll(2) says. */
static long outside_read(struct task *t)
{
	struct pollfd p = { any_held(t), POLLIN, 0 };
	struct timespec time = { .tv_nsec = any_bits(t, 21) };
	uint64_t times;
	long result = call(SYS_ppoll, &p, 1, &time, NULL, 0);

	if (result > 0 && p.revents & POLLIN && is_timerfd(p.fd))
		result = call(SYS_read, p.fd, &times, sizeof(times));
	return result;
}

static long outside_close(struct task *t)
{
	return call(SYS_close, any_held(t));
}

/* The parent may be in an experiment, and the timer's owner may be gone. */
static long outside_pass_on(struct task *t)
{
	return send_fd(any_held(t));
}

const struct operation outside_operations[] = {
	{ "outside: receive", outside_receive, 60, 0 },
	{ "outside: time left", outside_gettime, 200, 0 },
	{ "outside: arm", outside_settime, 30, 0 },
	{ "outside: read", outside_read, 40, 0 },
	{ "outside: close", outside_close, 20, 0 },
	{ "outside: pass on", outside_pass_on, 10, 0 },
	{ "outside: CPU times", brink_read_times, 40, 0 },
};
const size_t outside_operations_length = ARRAY_LENGTH(outside_operations);

/* --- in an experiment --- */

/* Passes a timer of the experiment, or any file that took its number. */
static long inside_pass(struct task *t)
{
	int64_t ns = any_bits(t, 40);
	struct itimerspec timer = { .it_value = { ns / S, ns % S } };

	if (one_in(t, 2))
		call(SYS_timerfd_settime, t->timer_fd, 0, &timer, NULL);
	return send_fd(t->timer_fd);
}

/* Makes the experiment's end slow: the module hands over each timer. */
static long inside_many(struct task *t)
{
	struct itimerspec timer = { .it_value.tv_sec = 1000 };
	long result = -EBADF;
	int n = 1 + below(t, 8);

	for (int i = 0; i < n; i++) {
		long fd = call(SYS_timerfd_create, CLOCK_MONOTONIC,
			       TFD_NONBLOCK | TFD_CLOEXEC);

		if (fd < 0)
			return fd;
		if (fd >= LAST_FD) {
			close_fd(t, fd);
			break;
		}
		timer.it_value.tv_nsec = any_bits(t, 29);
		result = call(SYS_timerfd_settime, fd, 0, &timer, NULL);
		send_fd(fd);
		if (one_in(t, 2))
			close_fd(t, fd);
		else
			t->timer_fd = fd;
	}
	return result;
}

const struct operation inside_operations[] = {
	{ "pass a timer", inside_pass, 20, 0 },
	{ "receive a timer", outside_receive, 8, 0 },
	{ "many timers", inside_many, 8, 0 },
};
const size_t inside_operations_length = ARRAY_LENGTH(inside_operations);
