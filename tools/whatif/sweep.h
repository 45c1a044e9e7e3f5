/* SPDX-License-Identifier: GPL-2.0 */
/* A sweep: one question, answered once for each of several numbers of CPUs. */
#ifndef TOOLS_WHATIF_SWEEP_H
#define TOOLS_WHATIF_SWEEP_H

#include <stdbool.h>

#include "sweep-cpus.h"
#include "whatif.h"

struct sweep {
	struct sweep_cpus cpus;
	/* In the order of cpus. Each has the same variants and has its conclusion. */
	struct whatif answers[SWEEP_CPUS_MAX];
	size_t count;
};

struct sweep_runner {
	/*
	 * Measures on that many CPUs, in a process of its own. Returns 0 with the
	 * samples in *w, or the status to end with after a message.
	 */
	int (*measure)(unsigned int cpus, void *arg);
	struct whatif *w;
	void *arg;
	bool quiet;
};

/*
 * Measures for one number of CPUs after the other. Returns 0 with all answers, or
 * prints a message and returns the status to end with. The answers before the error
 * are in the sweep in both cases.
 */
int sweep_measure(struct sweep *s, const struct sweep_runner *runner);

/* NULL, or an error that the caller frees: the answers are of different questions. */
char *sweep_check(const struct sweep *s);

void sweep_free(struct sweep *s);

#endif
