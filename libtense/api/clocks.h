/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Virtual time for the clocks that libc reads without a system call.
 *
 * In an experiment, system calls show virtual clocks. The functions here show the
 * same, from the thread's clock page if it has one. Until tense_clocks_start(),
 * they show real clocks.
 */
#ifndef LIBTENSE_CLOCKS_H
#define LIBTENSE_CLOCKS_H

#include <time.h>

/* libc's function; a bare system call until the preload layer has found it. */
extern int (*_Atomic tense_real_gettime)(clockid_t clock, struct timespec *ts);

/* Call this when the calling thread is in an experiment. */
void tense_clocks_start(void);

/* As clock_gettime(2). */
int tense_clocks_get(clockid_t clock, struct timespec *ts);

#endif
