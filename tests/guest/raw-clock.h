/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock by the two ways to read it: clock_gettime(), which a preloaded
 * libtense answers from the thread's clock page, and the system call, which no
 * library can intercept.
 */
#ifndef RAW_CLOCK_H
#define RAW_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <tense.h>
#include <time.h>
#include <unistd.h>

#ifdef STATIC_LIBTENSE
/* No library is preloaded: reads the page by libtense's own call. */
static inline int64_t page_clock(clockid_t clock)
{
	uint64_t ns = 0;

	(void)clock;
	tense_time_ns(&ns);
	return ns;
}
#else
static inline int64_t page_clock(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#endif

static inline int64_t raw_clock(clockid_t clock)
{
	struct timespec t = { 0 };

#ifdef __x86_64__
	long result;

	asm volatile("syscall" : "=a"(result)
		     : "0"(SYS_clock_gettime), "D"((long)clock), "S"(&t)
		     : "rcx", "r11", "memory");
#else
	syscall(SYS_clock_gettime, clock, &t);
#endif
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#endif
