/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtense: virtual time for the calling thread.
 *
 * Every function returns 0 or a negative errno value, never sets errno, and may
 * be called from any thread. Without /dev/tense all of them return -ENODEV, after
 * one warning on standard error. The program then runs as if they were not there.
 * Times are virtual. Percent is the speed relative to real (200 = imagined twice
 * as fast). Each function has a man page in section 3.
 */
#ifndef TENSE_H
#define TENSE_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* With -std=c99, <time.h> does not declare it. */
struct timespec;

/* Bounds of a percent, and of the product of nested ones. */
#define TENSE_SCALE_MIN 1
#define TENSE_SCALE_MAX 100000
/* Deepest nesting of tense_scale_percent() in one thread. */
#define TENSE_SCALE_DEPTH 64

int tense_init(void);
int tense_destroy(void);
int tense_health_check(void);

int tense_scale_percent(int percent);
int tense_scale_pop(void);
int tense_scale_clear(void);

int tense_move(const struct timespec *delta);
int tense_time(struct timespec *time);
int tense_sleep(const struct timespec *duration);

/* The same in nanoseconds. */
int tense_move_ns(int64_t ns);
int tense_time_ns(uint64_t *ns);
int tense_sleep_ns(int64_t ns);

#ifdef __cplusplus
}
#endif

#endif
