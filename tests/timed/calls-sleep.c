// SPDX-License-Identifier: GPL-2.0
#include "timed.h"

static int wait_nanosleep(const struct timed_call *call, struct thing *thing,
			  struct timespec time, struct timespec *rest)
{
	return ended(call->raw ? syscall(SYS_nanosleep, &time, rest) :
				 nanosleep(&time, rest), 0);
}

static int wait_clock_nanosleep(const struct timed_call *call,
				struct thing *thing, struct timespec time,
				struct timespec *rest)
{
	int flags = call->flags & ABSOLUTE ? TIMER_ABSTIME : 0;

	if (call->raw)
		return ended(syscall(SYS_clock_nanosleep, call->clock, flags,
				     &time, rest), 0);
	return -clock_nanosleep(call->clock, flags, &time, rest);
}

static int wait_usleep(const struct timed_call *call, struct thing *thing,
		       struct timespec time, struct timespec *rest)
{
	return ended(usleep(timespec_to_ns(time) / US), 0);
}

static int wait_sleep(const struct timed_call *call, struct thing *thing,
		      struct timespec time, struct timespec *rest)
{
	/* The rest is rounded: less of it is told than there was. */
	*rest = (struct timespec){ .tv_sec = sleep(time.tv_sec) };
	return rest->tv_sec ? -EINTR : TIMED_OUT;
}

static int wait_thrd_sleep(const struct timed_call *call, struct thing *thing,
			   struct timespec time, struct timespec *rest)
{
	int result = thrd_sleep(&time, rest);

	return result == 0 ? TIMED_OUT : result == -1 ? -EINTR : -EINVAL;
}

#define CLOCK_NANOSLEEP(id) \
	LIBC_AND_RAW("clock_nanosleep", .clock = (id), \
		     .flags = REST | CANCELS, .wait = wait_clock_nanosleep), \
	LIBC_AND_RAW("clock_nanosleep", .clock = (id), \
		     .flags = ABSOLUTE | CANCELS, .wait = wait_clock_nanosleep)

static const struct timed_call calls[] = {
	LIBC_AND_RAW("nanosleep", .clock = CLOCK_MONOTONIC,
		     .flags = REST | CANCELS, .wait = wait_nanosleep),
	CLOCK_NANOSLEEP(CLOCK_MONOTONIC),
	CLOCK_NANOSLEEP(CLOCK_REALTIME),
	CLOCK_NANOSLEEP(CLOCK_BOOTTIME),
	CLOCK_NANOSLEEP(CLOCK_TAI),
	{ "usleep", .clock = CLOCK_MONOTONIC,
	  .flags = CANCELS | NO_FRACTION | NO_NEGATIVE, .unit = US,
	  .longest = UINT32_MAX / 1000000, .wait = wait_usleep },
	{ "sleep", .clock = CLOCK_MONOTONIC,
	  .flags = CANCELS | NO_FRACTION | NO_NEGATIVE, .unit = S, .longest = UINT32_MAX,
	  .wait = wait_sleep },
	{ "thrd_sleep", .clock = CLOCK_MONOTONIC,
	  .flags = REST | CANCELS, .wait = wait_thrd_sleep },
};

const struct timed_calls sleep_calls = { calls, ARRAY_LENGTH(calls) };
