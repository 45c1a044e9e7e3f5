/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on a terminal that says how far something is; elsewhere nothing. It is
 * cleared before a message, and comes again after it.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdint.h>

struct progress {
	uint64_t start;		/* when the counted part began */
	uint64_t shown;
	unsigned int first;	/* done at start */
};

/* total is 0 where it is not known. */
void progress_show(struct progress *p, unsigned int done, unsigned int total,
		   const char *what);
void progress_end(struct progress *p);

/*
 * The same where standard error is no terminal. Prints a line at the start, one
 * for each tenth, and one after each half a minute without a line.
 */
struct progress_log {
	uint64_t start;		/* when the first step began */
	uint64_t counted;	/* when the total became known */
	uint64_t told;		/* when the last line was printed */
	unsigned int tenth;
	char what[400];		/* the last step, or "" */
};

void progress_log_show(struct progress_log *l, unsigned int done,
		       unsigned int total, const char *what);
/* Says that the last step goes on, if the time-out has passed. */
void progress_log_wait(struct progress_log *l);
/* For poll(): the time until then. */
int progress_log_timeout_ms(const struct progress_log *l);

#endif
