/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clocks and sleeps of libc in virtual time.
 *
 * A virtual clock shows what the real one did when the experiment began plus
 * the virtual time that has passed since, so that all processes of an
 * experiment agree. Until tense_clocks_start() has succeeded, and for clocks
 * that do not measure elapsed time, everything here is the real thing.
 */
#ifndef LIBTENSE_CLOCKS_H
#define LIBTENSE_CLOCKS_H

#include <time.h>

/* libc's; bare system calls until the preload layer has found them. */
extern int (*_Atomic tense_real_gettime)(clockid_t clock, struct timespec *ts);
extern int (*_Atomic tense_real_nanosleep)(clockid_t clock, int flags,
					   const struct timespec *request,
					   struct timespec *remain);

/* The calling thread is in an experiment. */
int tense_clocks_start(void);

/* As clock_gettime(2), clock_nanosleep(2). */
int tense_clocks_get(clockid_t clock, struct timespec *ts);
int tense_clocks_sleep(clockid_t clock, int flags,
		       const struct timespec *request, struct timespec *remain);

#endif
