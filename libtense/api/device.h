/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /dev/tense as libtense uses it.
 *
 * A handle refers to the device, not to a thread: all threads of the process
 * share one. A thread that did not inherit membership joins by a handle of its
 * own, and leaves by closing it. The program may close these handles, or put a
 * file of its own in their place; then libtense opens new ones.
 *
 * All functions but join and leave are async-signal-safe. Functions return a
 * negative errno value on failure and leave errno alone.
 */
#ifndef LIBTENSE_DEVICE_H
#define LIBTENSE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/tense.h>

#include "area.h"

/*
 * Makes the calling thread join an experiment unless it is in one. Returns 0 if
 * it is in one afterwards. keep: it stays in across exec and
 * tense_device_leave(), and threads of the process that are found outside join as
 * well.
 */
int tense_device_join(bool keep);
int tense_device_leave(void);

int tense_device_stats(struct tense_stats *stats);
/* Uses the thread's ring if possible. */
int tense_device_percent(const struct tense_change *change);
/* Always makes a system call, so that the thread needs no ring. */
int tense_device_write(unsigned int percent);

/* lseek(2) with SEEK_CUR: jump, or with 0 read the clock. */
int64_t tense_device_move(int64_t ns);
/* lseek(2) with SEEK_HOLE; a cancellation point. */
int64_t tense_device_sleep(int64_t ns);

/* From a handle that belongs to the caller of this function. */
int tense_device_read(int fd, struct tense_stats *stats);

/*
 * As tense_device_stats(), but never joins and opens no handle: -ESRCH if that would
 * be necessary.
 */
int tense_device_look(struct tense_stats *stats);

/* Whether the device could be opened. Does not join. */
int tense_device_probe(void);

/*
 * Says on standard error that the program runs in real time because of err. Says
 * it once per process, unless the environment asks for silence. Returns err, or
 * -ENODEV for every error that means that there is no device.
 */
int tense_device_complain(int err);

#endif
