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

/*
 * The same off a terminal, for what takes minutes: a line at the start, one for
 * each tenth, and one for each half a minute without another.
 */
struct progress_log {
	uint64_t start;		/* of all */
	uint64_t counted;	/* since when there is a total */
	uint64_t told;		/* the last line */
	unsigned int tenth;
	char what[400];		/* the last step, or "" */
};

void progress_log_show(struct progress_log *l, unsigned int done,
		       unsigned int total, const char *what);
/* Tells that the last step goes on, if it is time. */
void progress_log_wait(struct progress_log *l);
/* For poll(): until it is. */
int progress_log_timeout_ms(const struct progress_log *l);

#endif
