/* SPDX-License-Identifier: GPL-2.0 */
/* The samples of all runs. Each round has one sample of each condition. */
#ifndef TOOLS_WHATIF_SAMPLES_H
#define TOOLS_WHATIF_SAMPLES_H

#include "environment.h"
#include "question.h"

struct whatif_slot {
	uint64_t calls;
	uint64_t ran;		/* real ns */
	uint64_t charged;	/* virtual ns */
};

/* Calls of the functions of METRIC_LATENCY in a run. */
struct whatif_latency {
	uint64_t from, to;
	uint64_t pairs;		/* calls of from matched with one of to */
	uint64_t lost;		/* for which there was no room */
	double median;		/* ns */
};

/* One run. Times are in ns. */
struct whatif_sample {
	unsigned int round;	/* 0: the one that is discarded */
	unsigned int order;	/* its place among all runs */
	size_t condition;
	uint64_t began, ended;	/* since 1970; 0: not told */
	double metric;
	uint64_t elapsed;	/* virtual */
	uint64_t real;
	uint64_t charged;	/* virtual CPU time */
	uint64_t ran;		/* real CPU time */
	uint64_t gated;
	uint64_t overhead;
	uint64_t reference;	/* the reference loop, around the run */
	unsigned int threads;
	int status;		/* as the shell's $? */
	bool left_out;		/* the answer of a profile does not use it */
	double pair_ns;		/* an entry and exit, by the stubs, or 0 */
	uint64_t start;		/* start of the stubs, a part of ran */
	struct whatif_slot slot[WHATIF_SLOTS];
	struct whatif_latency latency;
};

/* How the instruments treated a function that a name stands for. */
struct whatif_patch {
	unsigned int slot;	/* or WHATIF_FROM, WHATIF_TO */
	bool patched;
	char *object;
	char *symbol;
	uint64_t offset;	/* in the object's file */
	char *how;		/* the mechanism, or why it was refused */
	unsigned int processes;	/* the most in a run */
	unsigned int seen;	/* in the log that is being read */
};

/* A round in which a daemon of the machine ran for longer than its cutoff. */
struct whatif_spoiled {
	unsigned int round;	/* as it was counted then */
	char daemon[17];
	double ms;
	double cutoff;		/* ms */
	bool dropped;		/* from the samples: there were enough */
};

struct whatif_samples {
	/* By round, and in a round by condition. The first round is discarded. */
	struct whatif_sample *list;
	size_t count;
	size_t per_round;	/* the conditions of the plan */
	struct whatif_patch *patches;
	size_t nr_patches;
	struct whatif_spoiled *spoiled;
	size_t nr_spoiled;
	struct whatif_environment environment;
};

/* Complete rounds without the discarded one. */
size_t whatif_rounds(const struct whatif_samples *samples);
const struct whatif_sample *whatif_at(const struct whatif_samples *samples,
				      size_t condition, size_t round);

/* The CPU time that was the program's. */
double whatif_own_ran(const struct whatif_sample *s);
double whatif_mean(const struct whatif_samples *samples, size_t condition,
		   double (*figure)(const struct whatif_sample *));
void whatif_samples_free(struct whatif_samples *samples);

#endif
