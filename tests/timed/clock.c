// SPDX-License-Identifier: GPL-2.0
#include "timed.h"

#include <stdlib.h>
#include <sys/mman.h>

struct timespec ns_to_timespec(int64_t ns)
{
	struct timespec time = { .tv_sec = ns / S, .tv_nsec = ns % S };

	if (time.tv_nsec < 0) {
		time.tv_sec--;
		time.tv_nsec += S;
	}
	return time;
}

/* Times beyond what 64 bits of ns hold are as good as the last of them. */
int64_t timespec_to_ns(struct timespec time)
{
	if (time.tv_sec >= INT64_MAX / S)
		return INT64_MAX;
	if (time.tv_sec <= INT64_MIN / S)
		return INT64_MIN;
	return time.tv_sec * S + time.tv_nsec;
}

int64_t raw_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	syscall(SYS_clock_gettime, clock, &now);
	return timespec_to_ns(now);
}

int64_t libc_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return timespec_to_ns(now);
}

const char *clock_name(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
		return "REALTIME";
	case CLOCK_MONOTONIC:
		return "MONOTONIC";
	case CLOCK_PROCESS_CPUTIME_ID:
		return "PROCESS_CPUTIME_ID";
	case CLOCK_THREAD_CPUTIME_ID:
		return "THREAD_CPUTIME_ID";
	case CLOCK_MONOTONIC_RAW:
		return "MONOTONIC_RAW";
	case CLOCK_REALTIME_COARSE:
		return "REALTIME_COARSE";
	case CLOCK_MONOTONIC_COARSE:
		return "MONOTONIC_COARSE";
	case CLOCK_BOOTTIME:
		return "BOOTTIME";
	case CLOCK_TAI:
		return "TAI";
	default:
		return "?";
	}
}

/* For pauses that nothing depends on. */
void nap(int64_t ns)
{
	struct timespec time = ns_to_timespec(ns);

	syscall(SYS_nanosleep, &time, NULL);
}

void burn(int64_t ns)
{
	int64_t end = raw_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (raw_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* Memory that forked processes share. */
void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}
