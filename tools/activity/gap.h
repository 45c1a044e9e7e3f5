/* SPDX-License-Identifier: GPL-2.0 */
/* Inactive periods, their causes, and a timer that causes some of them. */
#ifndef PERIODS_GAP_H
#define PERIODS_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The presumed user of the CPU in an inactive period. */
enum cause {
	CAUSE_TIMER,		/* an interrupt that came when the timer's does */
	CAUSE_PROCESS,		/* another thread: there was a context switch */
	CAUSE_OTHER,		/* any other interrupt, or the host of a guest */
	NR_CAUSES,
};

/* An inactive period. */
struct gap {
	uint64_t begin;
	uint64_t end;
	bool switched;		/* another thread ran, as the kernel counts it */
	enum cause cause;
};

/* Interrupts that come at even times. */
struct timer {
	double interval;	/* 0: none seen */
	double error;		/* half of a 95 % range of the interval */
	double tolerance;	/* an interrupt may be off by so much */
	double first;		/* when the first one came, or would have */
	size_t seen;		/* interrupts that came when expected */
	size_t expected;	/* when the loop had the CPU, so that it sees them */
};

#endif
