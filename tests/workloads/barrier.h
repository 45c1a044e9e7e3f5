/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes that start together: each sleeps here until the parent wakes all
 * of them at once, so that none has run before and the scheduler owes none
 * anything. Lives in memory shared by the processes.
 */
#ifndef BARRIER_H
#define BARRIER_H

#include <linux/futex.h>
#include <limits.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct barrier {
	uint32_t ready;
	uint32_t go;
};

static inline void barrier_wait(struct barrier *barrier)
{
	__atomic_add_fetch(&barrier->ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&barrier->go, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &barrier->go, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static inline int barrier_ready(const struct barrier *barrier)
{
	return __atomic_load_n(&barrier->ready, __ATOMIC_SEQ_CST);
}

static inline void barrier_open(struct barrier *barrier)
{
	__atomic_store_n(&barrier->go, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &barrier->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
