/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the threads of an experiment, in real and in virtual time, built
 * from the events of a recording. All times are ns since the program began.
 */
#ifndef TOOLS_TRACE_MODEL_H
#define TOOLS_TRACE_MODEL_H

#include <linux/tense.h>

#include "read.h"

enum piece_kind {
	PIECE_RUN,		/* on a CPU */
	PIECE_READY,		/* waits for one */
	PIECE_GATED,		/* its CPU is a window ahead */
	PIECE_BLOCKED,		/* sleeps, or waits for something */
	PIECE_KINDS
};

/*
 * A stretch of a thread's life, at one percent. While it runs, the machine may
 * be taken away from all of the experiment: it may have run for less than that.
 */
struct piece {
	uint64_t begin;		/* real */
	uint64_t end;
	uint64_t from;		/* virtual, as the thread sees it */
	uint64_t to;
	uint64_t lvt_from;	/* PIECE_RUN: virtual, of its CPU */
	uint64_t lvt_to;
	uint64_t ran;		/* PIECE_RUN: real, by the scheduler's count */
	int64_t own;		/* real: of that, the cost of Tense's calls */
	uint64_t charged;	/* virtual */
	uint16_t cpu;
	uint8_t kind;
};

enum mark_kind { MARK_PERCENT, MARK_DEADLINE, MARK_FORK, MARK_EXEC, MARK_EXIT,
		 MARK_MIGRATE };

/* Something that takes no time. */
struct mark {
	uint64_t time;		/* real */
	uint64_t virtual;
	int64_t value;		/* percent, deadline, child or CPU */
	uint16_t cpu;
	uint8_t kind;
};

/* How far its CPU was ahead of GVT when a thread was charged. */
struct lead {
	uint64_t time;		/* real */
	uint64_t virtual;
	uint64_t ns;		/* virtual */
	uint16_t cpu;
};

enum { LANE_PERCENTS = 3 };

struct lane {
	struct piece *pieces;
	size_t nr_pieces;
	struct mark *marks;
	size_t nr_marks;
	struct lead *leads;
	size_t nr_leads;
	char name[TRACE_NAME];
	int32_t pid;
	int32_t tgid;
	uint64_t born;		/* real */
	uint64_t birth;		/* virtual */
	uint64_t died;		/* real; or when the recording ends */
	/* Sums over the recording. */
	uint64_t ran;
	uint64_t charged;
	uint64_t gated;		/* real */
	unsigned int migrations;
	/* Times TENSE_FINE: those of most of its time, if they are so few. */
	unsigned int percents[LANE_PERCENTS];
	unsigned int nr_percents;
	unsigned int mean_percent;
	const struct tense_thread *account;	/* the kernel's, or NULL */
	/* The model's own. */
	enum lane_state { LANE_RUN, LANE_READY, LANE_GATED,
			  LANE_BLOCKED, LANE_GONE } state;
	bool parented;		/* its birth is its parent's virtual time */
	bool exits;
	bool apart;		/* the next charge begins a new piece */
	int last_cpu;		/* -1 */
	uint64_t program_ran;	/* when it was charged last, by the kernel */
	uint64_t since;		/* when the state began, real */
	bool at_gate;
	uint64_t shut;		/* the gate, real */
	uint64_t seen;		/* virtual time when it last ran */
	size_t open;		/* first piece that waits for its virtual end */
};

struct gvt {
	uint64_t time;		/* real */
	uint64_t ns;		/* virtual */
};

struct model {
	struct lane *lanes;	/* in the order in which they were born */
	size_t nr_lanes;
	struct gvt *gvt;	/* whenever it was seen to have risen */
	size_t nr_gvt;
	struct mark *marks;	/* marks that are of no thread */
	size_t nr_marks;
	uint64_t end;		/* real */
	uint64_t virtual_end;
	uint64_t window;	/* virtual */
	uint64_t lost;		/* events */
	unsigned int cpus;	/* how many CPUs ran a thread */
	unsigned int last_cpu;	/* the highest of them */
	const struct tense_stats *stats;	/* the kernel's account, or NULL */
};

/* stats, as of launch(), is used for as long as the model. */
void model_build(struct model *m, const struct trace *t, const void *stats);
void model_free(struct model *m);

/*
 * Percent times TENSE_FINE of what ran in a piece; 0 where nothing of it was
 * charged.
 */
unsigned int piece_percent(const struct piece *p);

/* Fills in the lane's percents from its pieces. */
void lane_find_percents(struct lane *lane);

/*
 * "100 %", "50 and 200 %" or "112 % on average", of a thread as a whole. The
 * caller frees it.
 */
char *lane_percent(const struct lane *lane);

/* By the kernel's account, or as far as it was recorded. */
uint64_t lane_ran(const struct lane *lane);
uint64_t lane_charged(const struct lane *lane);
uint64_t lane_gated(const struct lane *lane);

#endif
