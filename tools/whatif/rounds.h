/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs the conditions of a plan in rounds. Each round has one run of each
 * condition, in random order.
 */
#ifndef TOOLS_WHATIF_ROUNDS_H
#define TOOLS_WHATIF_ROUNDS_H

#include "whatif.h"

struct whatif_runner {
	/* 0, or the status to end with, after a message. */
	int (*run)(struct whatif *w, size_t condition,
		   struct whatif_sample *sample, void *arg);
	/* done of about total runs. */
	void (*progress)(unsigned int done, unsigned int total, void *arg);
	/* Explains why the last run failed; or NULL. */
	void (*explain)(void *arg);
	void *arg;
};

/* All the runs; 0, or what run() returned. Leaves a conclusion. */
int whatif_measure(struct whatif *w, const struct whatif_runner *runner);

#endif
