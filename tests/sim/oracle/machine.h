/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine that executes a program in real time, on many CPUs, by
 * module/vclock.c: it charges, gates, queues deadlines and sets timers where
 * the kernel module does. CPUs are held up by others, their timers are late,
 * and none of it follows the program: so some get ahead of others.
 */
#ifndef ORACLE_MACHINE_H
#define ORACLE_MACHINE_H

#include "oracle.h"

/* Counts events, so that a report can tell whether they happened. */
struct counts {
	uint64_t charges, gates, deadlines, outside, kicks;
	uint64_t virtual_ns;	/* virtual time that the programs took */
	uint64_t calls;		/* calls of vclock.c */
	uint64_t calls_ns;	/* CPU time of these calls, if timed */
};

/* How a machine is to be. */
struct mode {
	bool checked;		/* against the model of the rules, call by call */
	bool timed;
	bool verbose;
};

#define FAILURE_LENGTH	256

/*
 * Fills @r and adds to @counts. Each operation has to end within the bounds of
 * its span, and each step to keep the rules. False if not; @why says what.
 */
bool machine_run(const struct program *p, struct results *r, struct mode mode,
		 struct counts *counts, char why[FAILURE_LENGTH]);

#endif
