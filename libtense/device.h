/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /dev/tense as libtense uses it.
 *
 * A handle refers to the device, not to a thread, so that one of them, shared,
 * serves all threads of the process. A thread that is no member by inheritance
 * joins by a handle of its own, and leaves by closing it. Both are found again
 * if the program closes them, or puts a file of its own in their place.
 *
 * All but join and leave are async-signal-safe. Functions return a negative
 * errno value on failure and leave errno alone.
 */
#ifndef LIBTENSE_DEVICE_H
#define LIBTENSE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/tense.h>

#include "area.h"

/*
 * Returns 0 if the calling thread is in an experiment, and makes it join one
 * if it is not. keep: it stays in across exec and tense_device_leave(), and
 * threads of the process that turn out to be in no experiment join as well.
 */
int tense_device_join(bool keep);
int tense_device_leave(void);

int tense_device_stats(struct tense_stats *stats);
/* By the thread's ring if that is possible. */
int tense_device_percent(const struct tense_change *change);
/* Always makes a system call, so that a thread without a ring needs none. */
int tense_device_write(unsigned int percent);

/* lseek(2) with SEEK_CUR: jump, or with 0 read the clock. */
int64_t tense_device_move(int64_t ns);
/* lseek(2) with SEEK_HOLE; a cancellation point. */
int64_t tense_device_sleep(int64_t ns);

/* Could the device be opened? Does not join. */
int tense_device_probe(void);

/*
 * Says on standard error, once in a process, that the program runs in real
 * time because of err, unless the environment asks for silence. Returns err,
 * with all the ways for a device not to be there as -ENODEV.
 */
int tense_device_complain(int err);

/* The system calls, which the tests replace. Values or negative errnos. */
struct tense_device_ops {
	int (*open)(void);			/* O_CLOEXEC */
	int (*probe)(void);			/* would open() find it? */
	int (*close)(int fd);
	int (*close_unseen)(int fd);		/* not by the calling thread */
	int (*high)(void);			/* lowest number to move to */
	int (*dup_above)(int fd, int min);	/* O_CLOEXEC */
	int (*keep)(int fd);			/* clears O_CLOEXEC */
	int (*kept)(int fd);			/* is it clear? */
	uint64_t (*rdev)(int fd);		/* 0: no character device */
	long (*read)(int fd, void *buf, size_t size);
	long (*write)(int fd, const void *buf, size_t size);
	int64_t (*lseek)(int fd, int64_t offset, int whence);
	int (*map)(int fd, int64_t offset, size_t size, int protection,
		   void **map);			/* shared */
	void (*unmap)(void *map, size_t size);
};

extern const struct tense_device_ops *tense_device_ops;

#endif
