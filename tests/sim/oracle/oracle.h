/* SPDX-License-Identifier: GPL-2.0 */
/* When each operation of a program ends, and what a machine made of that. */
#ifndef ORACLE_ORACLE_H
#define ORACLE_ORACLE_H

#include "play.h"

struct result {
	struct span span;
	uint64_t clock;		/* the task's reading; machine only */
};

/* The results of all operations of all tasks, in order. */
struct results {
	struct result *of;
	unsigned int *first;	/* index, per task */
	unsigned int ops;
};

void results_init(struct results *r, const struct program *p);
void results_free(struct results *r);

static inline struct result *result_of(const struct results *r, int task,
				       unsigned int op)
{
	return &r->of[r->first[task] + op];
}

/*
 * Executes a program in exact virtual time, one operation after the other:
 * W = 0, nobody else, no real time at all. False if it deadlocks. *determinate
 * as in play.h.
 */
bool oracle_run(const struct program *p, struct results *r, bool *determinate);

#endif
