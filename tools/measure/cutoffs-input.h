/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of daemons' process times, and lists of their periods. */
#ifndef MEASURE_CUTOFFS_INPUT_H
#define MEASURE_CUTOFFS_INPUT_H

#include "cutoffs.h"

/* 0, or -1 after a message. Either is to be freed by runs_free(). */
int runs_read_central(struct runs *runs, const char *path);
int runs_read_executions(struct runs *runs, const char *path);
void runs_free(struct runs *runs);

struct periods {
	struct period *list;
	size_t count;
};

/* Adds a list as in "sshd=20h,cron=90m". 0, or -1 after a message. */
int periods_parse(struct periods *periods, const char *text);
void periods_free(struct periods *periods);

#endif
