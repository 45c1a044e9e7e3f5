/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A /dev/tense of one process for the tests of libtense. It keeps the rules of
 * <uapi/linux/tense.h> for joining, and for leaving by a close. Its virtual clock
 * moves only when somebody moves it.
 */
#ifndef TESTS_FAKE_DEVICE_H
#define TESTS_FAKE_DEVICE_H

#include <linux/tense.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/device.h"
#include "api/syscalls.h"

#define FAKE_HIGH	48	/* where descriptors are moved to */
#define FAKE_FDS	64

struct fake_device {
	/* Tests set these. */
	int open_error;
	int write_error;
	int join_error;			/* of joining by a name */
	int64_t interrupt_after;	/* a sleep, once; 0 = not */
	uint32_t version;
	int64_t real;			/* the experiment's real age */
	int map_error;			/* -EOPNOTSUPP to begin with */
	unsigned int clock_version;	/* by default TENSE_CLOCK_VERSION */
	bool ordered;			/* areas have a shared word */
	bool deaf;			/* takes no records */
	/* The device keeps these. */
	_Atomic unsigned int opens, reads, writes, seeks, foreign;
	_Atomic unsigned int named;	/* threads that joined by a name */
	char name[64];			/* the last of these names */
	_Atomic int64_t now;		/* virtual */
	_Atomic unsigned int members;
	_Atomic int64_t slept;		/* length of the last sleep */
	_Atomic int64_t seek;		/* the last offset that was not 0 */
	_Atomic unsigned int maps;	/* asked for */
	_Atomic int mapped;		/* now */
	_Atomic int charged_maps;	/* calls to map or unmap, not in own work */
	_Atomic unsigned int broken;	/* rules of the ring */
	_Atomic uint64_t calls[TENSE_SLOTS];
};

/*
 * A thread's area as the device has it. Like a real one it is mapped from the
 * same pages whenever it is asked for, and not inherited by fork.
 */
struct fake_area {
	struct tense_clock *clock;	/* shows what the test writes */
	struct tense_ring *ring;
	struct tense_shared *shared;
	unsigned int records;		/* records taken so far */
	struct tense_record last;	/* the last of these */
	uint8_t slot;
};

extern struct fake_device fake;
extern const struct tense_device_ops *fake_replaced;	/* the real ones */

/* Forgets all; libtense's own state is only ever that of a new process once. */
void fake_start(void);

/* The calling thread's. All take what is in the ring, as a call does. */
bool fake_member(void);
unsigned int fake_percent(void);
bool fake_in_own_work(void);
struct fake_area *fake_area(void);	/* NULL if it has none */

/* The program does these behind libtense's back. */
void fake_close_all(void);
void fake_put_foreign(void);		/* a file in place of each descriptor */
void fake_exec(void);			/* closes those that exec closes */
unsigned int fake_open_fds(void);
unsigned int fake_low_fds(void);	/* below FAKE_HIGH */
unsigned int fake_kept_fds(void);	/* an exec leaves these open */

/* A thread that inherits membership and percent; stranger: one that does not. */
int fake_thread(pthread_t *thread, bool stranger, void *(*fn)(void *arg),
		void *arg);

#endif
