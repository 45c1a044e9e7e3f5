/* SPDX-License-Identifier: GPL-2.0 */
/* How many CPUs a guest has. */
#ifndef TOOLS_CPUS_H
#define TOOLS_CPUS_H

#include "backend.h"

struct cpus_default {
	unsigned int cpus;
	unsigned int wanted;	/* by TENSE_CPUS, 0 if that is not set */
	const char *limit;	/* the reason if the guest has fewer, or NULL */
};

/* Returns 0 for a text that is no number of CPUs. */
unsigned int cpus_parse(const char *text);

/* Returns the most CPUs that a guest can have, 0 where there is no guest. */
unsigned int cpus_most(const struct backend *b);

/*
 * Returns NULL if TENSE_CPUS is not set or is a number of CPUs, otherwise the message,
 * which the caller frees.
 */
char *cpus_environment_error(void);

/*
 * Returns the number of CPUs where the user gave no --cpus: that of TENSE_CPUS, or for uml
 * as many as tense may use, and one for the others; all within what the guest can have.
 * Guests that run at the same time share the machine. TENSE_CPUS must be good.
 */
struct cpus_default cpus_default(const struct backend *b, const struct run *run);

/*
 * Returns 0 if this process may set seccomp filters, or else the error. With several CPUs,
 * User-Mode Linux needs them.
 */
int cpus_filters_error(void);

#endif
