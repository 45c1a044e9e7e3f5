/* SPDX-License-Identifier: GPL-2.0 */
/* One program: by the oracle, on a machine, and compared. */
#ifndef ORACLE_TRIAL_H
#define ORACLE_TRIAL_H

#include "machine.h"
#include "report.h"

enum verdict {
	TRIAL_GOOD,
	TRIAL_BAD,
	TRIAL_SENSELESS,	/* the program itself deadlocks */
};

struct trial {
	struct mode mode;
	struct counts counts;
	unsigned int programs, determinate;
	uint64_t operations;
	struct report exact;	/* determinate programs */
	struct report given;	/* the others, given the machine's order */
	char why[FAILURE_LENGTH];
};

/*
 * Each operation has to end within its bounds; and in a determinate program
 * what happened has to be what the oracle says, in the same order. Adds to
 * the sums in @t.
 */
enum verdict trial_run(struct trial *t, const struct program *p);

#endif
