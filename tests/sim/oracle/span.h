/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When something happens in virtual time: exactly, and within which bounds on
 * a machine that keeps the rules with a window W.
 *
 * The bounds follow from the rules. The machine's timers are late by up to L,
 * and its wake-ups take up to C. It does not stop a task in the kernel for up to K,
 * and charges a running task every T. All are real ns. Its tasks run at most r
 * virtual ns per real ns. R = max(r, 1), since idle time passes as fast as real
 * time:
 *
 * skew		S = max(W, T r) + (L + K) r. A CPU's timer is set for the end
 *		of its window (R6, R7), comes L late and may find it in the kernel:
 *		no LVT is more than S ahead of GVT. Where one CPU alone is active
 *		no such timer is set: until it is charged the next time, another
 *		one joins where it was the last time. None at all on one CPU.
 * early	The observer of an event on another CPU sees it later in real
 *		time. GVT does not fall and no active CPU is behind it (R5), so
 *		the observer is at most S earlier in virtual time. Events of the
 *		same CPU, or of the task itself, are never in the future.
 * wake-up	Ready at the waker's LVT (R3), which GVT has not reached: exact.
 *		In C, GVT may rise to any LVT, S ahead, and by C R: R4.
 * deadline	When GVT reaches it, other CPUs are up to S ahead. If the slowest
 *		blocks in that moment GVT goes there, before the deadline fires,
 *		and R4 takes the sleeper along. Timer and wake-up: (L + C) R.
 * outside	No earlier than the real time that it took, which is its ready
 *		time (R3); and no earlier than GVT, which may have been S behind
 *		when it began and R times as fast since.
 *
 * All else adds nothing. These add up along a chain of dependences, and only
 * there: times are joined by max and moved by sums.
 */
#ifndef ORACLE_SPAN_H
#define ORACLE_SPAN_H

#include "../model.h"
#include "program.h"

struct span {
	fixed_t exact;
	fixed_t low, high;	/* the task's clock, in whole ns */
	unsigned int hops;	/* from CPU to CPU, on the way that decides */
	bool outside;		/* it waited for the outside, with R > 1 */
};

struct slack {
	fixed_t skew;
	fixed_t wake;
	fixed_t deadline;
	fixed_t order;		/* events this far apart keep their order */
	uint64_t lateness, rate;	/* R, rounded up */
};

struct slack slack_of(const struct program *p);

static inline fixed_t fixed_max(fixed_t a, fixed_t b)
{
	return a > b ? a : b;
}

/* 0 at least. */
static inline fixed_t fixed_less(fixed_t a, fixed_t b)
{
	return a > b ? a - b : 0;
}

static inline fixed_t fixed_floor(fixed_t a)
{
	return a >> 32 << 32;
}

/* After both. */
static inline struct span span_join(struct span a, struct span b)
{
	if (b.exact > a.exact || (b.exact == a.exact && b.hops > a.hops)) {
		a.exact = b.exact;
		a.hops = b.hops;
	}
	/* A CPU's clock is set to whole ns when it turns active. */
	a.low = fixed_max(fixed_floor(a.low), fixed_floor(b.low));
	a.high = fixed_max(a.high, b.high);
	a.outside |= b.outside;
	return a;
}

/* So much later. */
static inline struct span span_add(struct span a, fixed_t v)
{
	a.exact += v;
	a.low += v;
	a.high += v;
	return a;
}

#endif
