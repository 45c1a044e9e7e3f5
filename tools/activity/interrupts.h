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

/* Of a file like /proc/interrupts: none if the CPU is not in it. */
void interrupts_read(struct interrupts *all, FILE *f, int cpu);

/* Of this machine: none where it does not tell. */
void interrupts_now(struct interrupts *all, int cpu);

/*
 * Takes from each what there was before; those that did not come go, and the
 * most frequent is the first.
 */
void interrupts_since(struct interrupts *now, const struct interrupts *before);
void interrupts_free(struct interrupts *all);

#endif
