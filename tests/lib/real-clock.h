/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's clocks, past libtense: its preload layer replaces the libc
 * calls only.
 */
#ifndef REAL_CLOCK_H
#define REAL_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t timespec_ns(struct timespec time)
{
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static inline uint64_t real_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	syscall(SYS_clock_gettime, clock, &now);
	return timespec_ns(now);
}

/* Virtual under libtense, real elsewhere. */
static inline uint64_t libc_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return timespec_ns(now);
}

#endif
