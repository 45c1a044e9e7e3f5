/* SPDX-License-Identifier: GPL-2.0 */
/* Takes times of work that does nothing, by several processes on each core. */
#ifndef NOISE_COLLECT_H
#define NOISE_COLLECT_H

#include <stddef.h>

#include "nops.h"

#define PER_CORE_MAX	20

/* What is to be done. */
struct workload {
	double length;		/* in seconds */
	unsigned int per_core;	/* processes, 1 to PER_CORE_MAX */
	size_t samples;		/* of all processes, at least so many */
};

/* And what came of it. */
struct collection {
	unsigned int cores;	/* those that this process may use */
	double nominal;		/* of the work, by its calibration; seconds */
	double *noise;		/* what each took more than that, in seconds: to a
				 * nanosecond, within which they are spread */
	size_t count;
};

/* Of the whole run, if it is one of several parts; for a progress bar. */
typedef void (*collect_progress)(size_t taken, void *arg);

/*
 * All processes begin together, each on its core, and go on until the last one
 * has its samples. 0, or -1 after a message.
 */
int collect(const struct workload *w, const struct nops *nops,
	    collect_progress progress, void *arg, struct collection *c);
void collection_free(struct collection *c);

#endif
