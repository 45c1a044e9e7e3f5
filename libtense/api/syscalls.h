/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system calls that libtense makes on /dev/tense. */
#ifndef LIBTENSE_SYSCALLS_H
#define LIBTENSE_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>

/* The system calls, which the tests replace. They return values or negative errnos. */
struct tense_device_ops {
	int (*open)(void);			/* O_CLOEXEC */
	int (*open_only)(void);			/* the same; joins nothing */
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
	/*
	 * Calls fn in a process that shares memory with the caller, and neither
	 * descriptors nor an experiment. Returns what fn returns.
	 */
	int (*apart)(int (*fn)(void *arg), void *arg);
};

extern const struct tense_device_ops *tense_device_ops;

#endif
