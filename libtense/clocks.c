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
 * What the clock page calls it, -1 if it is not in there. Coarse clocks are as
 * fine as the others, so that they agree with them.
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
		/* Nobody to tell. */
	}
}

/* From the page, once there is one; else a negative number. */
static int64_t read_page(unsigned int origin)
{
	int64_t ns = tense_area_clock(origin), now;
	int saved = errno;

	if (ns != -EAGAIN)
		return ns;
	/* Makes a page, or the one that there is fresh; a stranger joins. */
	now = tense_device_move(0);
	if (now < 0)
		complain_once();
	else
		ns = tense_area_clock_at(origin, now);
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
	/* libc's own would not ask the kernel, which knows the virtual one. */
	if (ns < 0)
		return bare_gettime(clock, ts);
	*ts = (struct timespec) {
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
	return 0;
}
