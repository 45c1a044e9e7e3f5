/* SPDX-License-Identifier: GPL-2.0 */
/* Which interrupts a CPU had, by their names in /proc/interrupts. */
#ifndef PERIODS_INTERRUPTS_H
#define PERIODS_INTERRUPTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct interrupt {
	char *name;		/* as in "LOC" or "36" */
	char *what;		/* as in "Local timer interrupts"; may be "" */
	uint64_t count;
};

struct interrupts {
	struct interrupt *list;
	size_t count;
};

/* Reads a file like /proc/interrupts. The list is empty if it lacks the CPU. */
void interrupts_read(struct interrupts *all, FILE *f, int cpu);

/* Reads this machine's counts. The list is empty if it does not tell them. */
void interrupts_now(struct interrupts *all, int cpu);

/*
 * Subtracts the earlier counts, drops interrupts that did not come since, and
 * sorts the rest, the most frequent first.
 */
void interrupts_since(struct interrupts *now, const struct interrupts *before);
void interrupts_free(struct interrupts *all);

#endif
