/* SPDX-License-Identifier: GPL-2.0 */
/* Takes times of work that does nothing, by several processes on each core. */
#ifndef NOISE_COLLECT_H
#define NOISE_COLLECT_H

#include <stddef.h>

#include "nops.h"

#define PER_CORE_MAX	20

/* The work that collect() has to do. */
struct workload {
	double length;		/* in seconds */
	unsigned int per_core;	/* processes, 1 to PER_CORE_MAX */
	size_t samples;		/* the least, of all processes */
};

/* How often a process gave its CPU away while a sample was taken. */
enum switches { VOLUNTARY, INVOLUNTARY, NR_SWITCHES };

/* The result of collect(). */
struct collection {
	unsigned int cores;	/* this process may use so many */
	double nominal;		/* calibrated time of the work, seconds */
	double *noise;		/* time beyond nominal of each sample, seconds:
				 * to a ns, within which they are spread */
	double *switches[NR_SWITCHES];	/* of each sample */
	size_t count;
};

/* Reports to a progress bar how many samples were taken so far. */
typedef void (*collect_progress)(size_t taken, void *arg);

/*
 * All processes begin together, each on its core, and go on until the last one
 * has its samples. 0, or -1 after a message.
 */
int collect(const struct workload *w, const struct nops *nops,
	    collect_progress progress, void *arg, struct collection *c);
void collection_free(struct collection *c);

#endif
