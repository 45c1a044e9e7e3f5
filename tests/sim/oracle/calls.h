/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All calls of vclock.c go through here: each as it is, or by tests/sim/ops.c,
 * which compares it with the model of the rules; and recorded, if wanted, so
 * that what they cost can be measured without the machine around them.
 */
#ifndef ORACLE_CALLS_H
#define ORACLE_CALLS_H

#include "../sim.h"

enum call_kind {
	CALL_INIT,		/* percent */
	CALL_FORK,		/* task that forks it */
	CALL_PERCENT,		/* percent */
	CALL_CHARGE,		/* real ns */
	CALL_NOW,
	CALL_JOIN,		/* CPU */
	CALL_BLOCK,
	CALL_LEAVE,
	CALL_READY_BY,		/* task that wakes */
	CALL_READY_AT,		/* virtual ns: the deadline that fired */
	CALL_READY_OUTSIDE,
	CALL_ADVANCE,
	CALL_ARM,		/* virtual ns */
	CALL_DISARM,
	CALL_EXPIRE,		/* returns a task, or NEVER */
	CALL_AHEAD,
	CALL_GATE,
	CALL_HORIZON,
	CALL_OUTSIDE,		/* one more, or one less if 0 */
};

struct call {
	enum call_kind kind;
	int task;
	uint64_t arg, real;
};

struct calls {
	struct sim s;
	bool checked, recorded;
	uint64_t window;
	uint64_t made;
	struct call *record;
	unsigned int room;
};

/* Ends the program if there is no memory. */
void calls_init(struct calls *c, unsigned int cpus, unsigned int tasks,
		uint64_t window, bool skip);
void calls_free(struct calls *c);

/* Returns the result of the call, or 0. For a task, or for none. */
uint64_t call(struct calls *c, enum call_kind kind, int task, uint64_t arg);

/* Makes the calls of @c->record once more; what they took, in ns of CPU time. */
uint64_t calls_repeat(struct calls *c);

#endif
