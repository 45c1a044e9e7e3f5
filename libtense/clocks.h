/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The clocks of libc, which it reads without a system call, in virtual time.
 *
 * In an experiment the kernel shows virtual clocks to system calls. What is
 * here shows the same, from the thread's clock page where there is one. Until
 * tense_clocks_start(), everything here is the real thing.
 */
#ifndef LIBTENSE_CLOCKS_H
#define LIBTENSE_CLOCKS_H

#include <time.h>

/* libc's; a bare system call until the preload layer has found it. */
extern int (*_Atomic tense_real_gettime)(clockid_t clock, struct timespec *ts);

/* The calling thread is in an experiment. */
void tense_clocks_start(void);

/* As clock_gettime(2). */
int tense_clocks_get(clockid_t clock, struct timespec *ts);

#endif
