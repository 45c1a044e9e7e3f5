// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clocks.h"
#include "config.h"
#include "device.h"

#define NSEC_PER_SEC	1000000000LL
#define TRIES		3	/* to read two clocks at the same instant */

static int bare_gettime(clockid_t clock, struct timespec *ts)
{
	return syscall(SYS_clock_gettime, clock, ts);
}

static int bare_nanosleep(clockid_t clock, int flags,
			  const struct timespec *request,
			  struct timespec *remain)
{
	int saved = errno, err = 0;

	if (syscall(SYS_clock_nanosleep, clock, flags, request, remain))
		err = errno;
	errno = saved;
	return err;
}

int (*_Atomic tense_real_gettime)(clockid_t, struct timespec *) = bare_gettime;
int (*_Atomic tense_real_nanosleep)(clockid_t, int, const struct timespec *,
				    struct timespec *) = bare_nanosleep;

static _Atomic bool started;
/* What each clock showed when the experiment began; 0: not yet known. */
static _Atomic int64_t origins[CLOCK_TAI + 1];

/* Never negative: request is valid. */
static int64_t to_ns(const struct timespec *ts)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)ts->tv_sec, NSEC_PER_SEC, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)ts->tv_nsec, &ns))
		return INT64_MAX;
	return ns;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec) {
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
}

static int64_t real_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	tense_real_gettime(clock, &ts);
	return to_ns(&ts);
}

/*
 * The clock that a virtual one is derived from, -1 if it stays real. Coarse
 * clocks are not, so that they agree with the fine ones.
 */
static clockid_t source_of(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		return CLOCK_REALTIME;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
		return CLOCK_MONOTONIC;
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return clock;
	default:
		return -1;
	}
}

static bool read_elapsed(clockid_t unused, int64_t *ns)
{
	struct tense_stats stats;

	(void)unused;
	if (tense_device_stats(&stats))
		return false;
	*ns = stats.elapsed;
	return true;
}

static bool read_clock(clockid_t clock, int64_t *ns)
{
	*ns = real_ns(clock);
	return true;
}

/*
 * Sets ahead to what the monotonic clock shows more than read() gives, from
 * the try in which the least time passed between the two.
 */
static bool compare(bool (*read)(clockid_t clock, int64_t *ns), clockid_t clock,
		    int64_t *ahead)
{
	int64_t least = INT64_MAX;

	*ahead = 0;
	for (int i = 0; i < TRIES; i++) {
		int64_t before = real_ns(CLOCK_MONOTONIC), ns, after;

		if (!read(clock, &ns))
			return false;
		after = real_ns(CLOCK_MONOTONIC);
		if (after - before < least) {
			least = after - before;
			*ahead = before + least / 2 - ns;
		}
	}
	return true;
}

int tense_clocks_start(void)
{
	int64_t origin;

	if (!compare(read_elapsed, -1, &origin))
		return -EIO;
	origins[CLOCK_MONOTONIC] = origin;
	started = true;
	return 0;
}

/* The first thread to ask decides, so that all of them agree. */
static int64_t origin_of(clockid_t clock)
{
	int64_t origin = origins[clock], none = 0, ahead;

	if (!origin) {
		compare(read_clock, clock, &ahead);
		origin = origins[CLOCK_MONOTONIC] - ahead;
		if (!atomic_compare_exchange_strong(&origins[clock], &none,
						    origin))
			origin = none;
	}
	return origin;
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

/* The calling thread's virtual time, negative if the clock is real. */
static int64_t virtual_ns(clockid_t source)
{
	int saved = errno;
	int64_t now = -1;

	if (source >= 0 && started) {
		now = tense_device_move(0);
		if (now < 0)
			complain_once();
	}
	errno = saved;
	return now;
}

int tense_clocks_get(clockid_t clock, struct timespec *ts)
{
	clockid_t source = source_of(clock);
	int64_t now = virtual_ns(source);

	if (now < 0)
		return tense_real_gettime(clock, ts);
	*ts = to_timespec(origin_of(source) + now);
	return 0;
}

/*
 * What the kernel would say to a request, without reading memory that may not
 * be there: it looks at the timeout before it finds that the word differs.
 */
static int check(const struct timespec *request)
{
	unsigned int word = 0;
	int saved = errno, err = 0;

	if (!request)
		return EFAULT;
	if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, request, NULL, 0) &&
	    (errno == EFAULT || errno == EINVAL))
		err = errno;
	errno = saved;
	return err;
}

/* Here too the kernel finds out whether there is memory. */
static int store_remain(struct timespec *remain, int64_t ns)
{
	int saved = errno;

	if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, remain)) {
		errno = saved;
		return EFAULT;
	}
	*remain = to_timespec(ns);
	return 0;
}

int tense_clocks_sleep(clockid_t clock, int flags,
		       const struct timespec *request, struct timespec *remain)
{
	clockid_t source = source_of(clock);
	bool absolute = flags & TIMER_ABSTIME;
	int64_t start, end, until;
	int err;

	/* The kernel has no sleep on the coarse and the raw clocks. */
	start = source != clock || clock == CLOCK_MONOTONIC_RAW ?
		-1 : virtual_ns(source);
	if (start < 0)
		return tense_real_nanosleep(clock, flags, request, remain);
	err = check(request);
	if (err)
		return err;

	until = to_ns(request);
	if (__builtin_add_overflow(until, absolute ? -origin_of(source) : start,
				   &until) || until > (int64_t)TENSE_TIME_MAX)
		until = TENSE_TIME_MAX;
	/* Of no length is still a cancellation point. */
	end = tense_device_sleep(until > start ? until - start : 0);
	if (end >= 0)
		return 0;
	if (end != -EINTR) {
		complain_once();
		return tense_real_nanosleep(clock, flags, request, remain);
	}
	if (absolute)
		return EINTR;
	end = tense_device_move(0);
	if (end >= until)
		return 0;
	if (remain && end >= 0)
		err = store_remain(remain, until - end);
	return err ? err : EINTR;
}
