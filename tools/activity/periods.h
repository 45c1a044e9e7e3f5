/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds when a program had its CPU. A loop does nothing but read a counter. If
 * two readings are further apart than a threshold, something else ran in
 * between. All times are in units of the counter, from the start of the
 * recording.
 */
#ifndef PERIODS_PERIODS_H
#define PERIODS_PERIODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gap.h"
#include "interrupts.h"

struct recording {
	unsigned int load;	/* other processes that take what CPU they get */
	double ns;		/* ns per unit of the counter */
	uint64_t turn;		/* median of the loop, without a gap */
	uint64_t threshold;
	uint64_t length;
	struct gap *gaps;	/* in order, and apart */
	size_t count;
	bool full;		/* too many gaps: it ended early */
	struct timer timer;
	double least_ns;	/* least cost of a timer interrupt; 0: unknown */
	struct interrupts interrupts;	/* came during the recording */
	double stolen;		/* seconds, by the host, of all CPUs */
};

/* All or some of the inactive periods, by how long they are. */
struct share {
	size_t count;
	uint64_t total;
	uint64_t shortest;	/* these are 0 if there is none */
	uint64_t median;
	uint64_t longest;
};

/* Active ones have even numbers: A0, I0, A1 ... and at the end an active one. */
struct period {
	const struct gap *gap;	/* NULL: active */
	size_t index;		/* within its kind */
	uint64_t begin;
	uint64_t end;
};

size_t periods_count(const struct recording *r);
struct period periods_at(const struct recording *r, size_t number);

/* Infers the timer, and sets the cause of each gap. */
void periods_analyse(struct recording *r);

/* For qsort(), of uint64_t. */
int periods_shortest_first(const void *left, const void *right);

struct share periods_share(const struct recording *r, enum cause cause);
struct share periods_inactive(const struct recording *r);

/*
 * The time that an interrupt takes from a program. Counts the timer's gaps. If
 * the timer was not seen, counts all gaps in which no other thread ran.
 */
struct share periods_interrupt_cost(const struct recording *r);

const char *cause_name(enum cause cause);

void recording_free(struct recording *r);

#endif
