// SPDX-License-Identifier: GPL-2.0
/*
 * The administrator sets the clock while others wait: outside of experiments,
 * and then in one. For a machine of the test's own.
 */
#include "timed.h"

#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#ifndef TFD_TIMER_CANCEL_ON_SET
#define TFD_TIMER_CANCEL_ON_SET 2
#endif

/* The waiting process has read the clocks. */
static volatile int *begun;

static void clock_moves(int64_t ns)
{
	struct timespec time =
		ns_to_timespec(raw_clock(CLOCK_REALTIME) + ns);

	clock_settime(CLOCK_REALTIME, &time);
}

/* Half an hour from now, by a clock that is set forward by an hour. */
static int until(void)
{
	int64_t deadline = raw_clock(CLOCK_REALTIME) + HOUR / 2;
	int64_t begin = raw_clock(CLOCK_MONOTONIC);
	struct timespec time = ns_to_timespec(deadline);

	*begun = 1;
	if (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL))
		return 3;
	return raw_clock(CLOCK_REALTIME) < deadline ? 4 :
	       raw_clock(CLOCK_MONOTONIC) - begin > HOUR / 4 ? 5 : 0;
}

/* For a time, whatever the clock says. */
static int for_time(void)
{
	int64_t begin = raw_clock(CLOCK_MONOTONIC);
	struct timespec time = ns_to_timespec(200 * MS);

	*begun = 1;
	if (clock_nanosleep(CLOCK_REALTIME, 0, &time, NULL))
		return 3;
	return raw_clock(CLOCK_MONOTONIC) - begin < 200 * MS ? 4 : 0;
}

static int cancelled(void)
{
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	struct itimerspec arm = {
		.it_value = ns_to_timespec(raw_clock(CLOCK_REALTIME) + HOUR),
	};
	uint64_t count;

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			    &arm, NULL))
		return 3;
	*begun = 1;
	return read(fd, &count, sizeof(count)) < 0 && errno == ECANCELED ? 0 : 4;
}

static int timerfd_until(void)
{
	int64_t deadline = raw_clock(CLOCK_REALTIME) + HOUR / 2;
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
	struct itimerspec arm = { .it_value = ns_to_timespec(deadline) };
	uint64_t count;

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &arm, NULL))
		return 3;
	*begun = 1;
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return 5;
	return raw_clock(CLOCK_REALTIME) < deadline ? 4 : 0;
}

static int monotonic(void)
{
	int64_t before = raw_clock(CLOCK_MONOTONIC), now;
	int64_t end = before + 100 * MS;

	*begun = 1;
	do {
		now = raw_clock(CLOCK_MONOTONIC);
		if (now < before || now - before > HOUR / 4)
			return 3;
		before = now;
		nap(MS);
	} while (now < end);
	return 0;
}

static int realtime_moved(void)
{
	int64_t real = raw_clock(CLOCK_REALTIME);
	int64_t mono = raw_clock(CLOCK_MONOTONIC);

	*begun = 1;
	while (raw_clock(CLOCK_REALTIME) - real < HOUR / 2)
		if (raw_clock(CLOCK_MONOTONIC) - mono > 10 * S)
			return 3;
		else
			nap(MS);
	return 0;
}

static const struct {
	const char *name;
	int (*wait)(void);
} waits[] = {
	{ "clock_nanosleep until a time ends when the clock shows it", until },
	{ "clock_nanosleep for a time lasts as long", for_time },
	{ "timerfd until a time ends when the clock shows it", timerfd_until },
	{ "timerfd with TFD_TIMER_CANCEL_ON_SET is cancelled", cancelled },
	{ "CLOCK_MONOTONIC does not move", monotonic },
	{ "CLOCK_REALTIME moves for all", realtime_moved },
};

static void set_while_waiting(bool join)
{
	begun = shared(sizeof(*begun));
	for (size_t i = 0; i < ARRAY_LENGTH(waits); i++) {
		int status = 0;
		bool ended = false;
		pid_t child;

		*begun = 0;
		child = fork();

		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(join && !join_experiment() ? 2 : waits[i].wait());
		}
		/* It may end because it cannot join. */
		while (!*begun && !ended) {
			nap(MS);
			ended = waitpid(child, &status, WNOHANG) == child;
		}
		nap(50 * MS);
		clock_moves(HOUR);
		if (!ended)
			waitpid(child, &status, 0);
		clock_moves(-HOUR);
		if (!check(status == 0, "the clock is set, %s: %s",
			   join ? "in an experiment" : "in real time",
			   waits[i].name))
			note("status 0x%x", status);
	}
}

void test_set_clock(void)
{
	set_while_waiting(false);
	set_while_waiting(true);
}
