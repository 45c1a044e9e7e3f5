/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on a terminal that says how far something is; elsewhere nothing. It is
 * cleared before a message, and comes again after it.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdint.h>

struct progress {
	uint64_t start;		/* of the counted part */
	uint64_t shown;
	unsigned int first;	/* done at start */
};

/* total is 0 where it is not known. */
void progress_show(struct progress *p, unsigned int done, unsigned int total,
		   const char *what);
void progress_end(struct progress *p);

#endif
