/* SPDX-License-Identifier: GPL-2.0 */
/* Events of experiments for tests, by rules that a recording keeps. */
#ifndef FAKE_STORY_H
#define FAKE_STORY_H

#include "trace/model.h"

enum { STORY_LAUNCHER = 10, STORY_PROGRAM = 11, STORY_CPUS = 4,
       STORY_PIDS = 64 };

/* When its program began; what comes before is to be left out. */
#define STORY_REAL	2000000
#define STORY_VIRTUAL	700000

struct story {
	struct trace trace;
	size_t room;
	uint64_t now;		/* real, since the program began */
	uint64_t lvt[STORY_CPUS];
	unsigned int cpus;	/* GVT is their minimum */
	int32_t on[STORY_CPUS];	/* pid that runs there, or 0 */
	uint64_t ran[STORY_PIDS];	/* by each, without Tense's calls */
};

/* Until the program, which runs on CPU 0. */
void story_begin(struct story *s, unsigned int cpus);
void story_free(struct story *s);

uint64_t story_gvt(const struct story *s);

/* Each happens at s->now. A charge is of real ns until then. */
void story_charge(struct story *s, int32_t pid, unsigned int cpu, uint64_t real,
		  unsigned int percent);
/* The first own ns of it were a call of Tense. */
void story_charge_call(struct story *s, int32_t pid, unsigned int cpu,
		       uint64_t real, uint64_t own, unsigned int percent);
void story_switch(struct story *s, unsigned int cpu, int32_t to, bool blocked);
void story_wake(struct story *s, int32_t pid);
void story_fork(struct story *s, int32_t parent, int32_t child);
void story_exit(struct story *s, int32_t pid);
void story_gate(struct story *s, int32_t pid, unsigned int cpu, bool shut);
void story_percent(struct story *s, int32_t pid, unsigned int cpu,
		   unsigned int percent);
void story_deadline(struct story *s, int32_t pid, uint64_t when);
void story_migrate(struct story *s, int32_t pid, unsigned int from,
		   unsigned int to);

/*
 * Threads at percents 50, 100 and 200 by turns that run, wait, sleep and are
 * gated on all CPUs, as chance has it.
 */
void story_random(struct story *s, unsigned int cpus, unsigned int threads,
		  unsigned int steps, unsigned int seed);

#endif
