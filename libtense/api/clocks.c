// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clocks.h"
#include "device.h"

#define NSEC_PER_SEC	1000000000LL

static int bare_gettime(clockid_t clock, struct timespec *ts)
{
	return syscall(SYS_clock_gettime, clock, ts);
}

int (*_Atomic tense_real_gettime)(clockid_t, struct timespec *) = bare_gettime;

static _Atomic bool started;

void tense_clocks_start(void)
{
	started = true;
}

/*
 * Returns the clock's number on the clock page, -1 if it is not there. A coarse
 * clock is as fine as the other one, so that the two agree.
 */
static int origin_of(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		return TENSE_ORIGIN_REALTIME;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
		return TENSE_ORIGIN_MONOTONIC;
	case CLOCK_MONOTONIC_RAW:
		return TENSE_ORIGIN_RAW;
	case CLOCK_BOOTTIME:
		return TENSE_ORIGIN_BOOTTIME;
	case CLOCK_TAI:
		return TENSE_ORIGIN_TAI;
	default:
		return -1;
	}
}

static void complain_once(void)
{
	static const char text[] = "libtense: a thread lost " TENSE_DEVICE
				   "; its clocks are real from here on\n";
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said) &&
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* There is no one to tell. */
	}
}

/*
 * Reads the clock page, if there is one. Returns a negative number if it does not
 * tell.
 */
static int64_t read_page(unsigned int origin)
{
	int64_t ns = tense_page_clock(origin), now;
	int saved = errno;

	if (ns != -EAGAIN)
		return ns;
	/*
	 * The call makes a page or updates it. A thread that is in no experiment
	 * joins.
	 */
	now = tense_device_move(0);
	if (now < 0)
		complain_once();
	else
		ns = tense_page_clock_at(origin, now);
	errno = saved;
	return ns;
}

int tense_clocks_get(clockid_t clock, struct timespec *ts)
{
	int origin = started ? origin_of(clock) : -1;
	int64_t ns;

	if (origin < 0)
		return tense_real_gettime(clock, ts);
	ns = read_page(origin);
	/*
	 * Do not ask libc: its own clock does not ask the kernel for the virtual
	 * time.
	 */
	if (ns < 0)
		return bare_gettime(clock, ts);
	*ts = (struct timespec) {
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
	return 0;
}
