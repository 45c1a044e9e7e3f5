/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a command in an experiment, waits for it and reads the experiment's
 * counters: here for the native back end, in the guest for the others.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "samples-record.h"
#include "trace-record.h"

/*
 * The virtual clocks, the order of readings on several CPUs, and how virtual time
 * passes when all tasks wait.
 */
struct clock_choice {
	enum { CLOCKS_ALL, CLOCKS_MONOTONIC, CLOCKS_NONE } clocks;
	enum { ORDER_ALL, ORDER_NONE } order;
	enum { IDLE_REAL, IDLE_SKIP } idle;
};

extern const char *const clock_names[];	/* ends with NULL */
extern const char *const order_names[];
extern const char *const idle_names[];

/* Returns the index of a name in such a list, or -1. text may be NULL. */
int clock_name_find(const char *text, const char *const *names);

struct launch {
	char *const *argv;
	char *const *env;
	unsigned int percent;	/* 0: in real time, no experiment */
	const char *experiment;	/* name of it; NULL or empty: a new one */
	/* A shell runs it before the command, in real time. NULL or empty: nothing. */
	const char *prepare;
	const char *input;	/* file to read instead of standard input; NULL or empty: none */
	struct clock_choice choice;
	bool stats;
	struct trace_record *record;	/* NULL: no events are recorded */
	const struct samples_record *samples;	/* NULL: no samples are taken */
	bool group;		/* a process group of its own */
	int tty;		/* for the group to be in front of, or -1 */
	uint64_t ignored;	/* signals to ignore, bit n is signal n + 1 */
	sigset_t mask;		/* the command's signal mask */
	/* In the child: 0, or -1 with errno and what failed in *what. */
	int (*setup)(void *arg, const char **what);
	void (*started)(void *arg);
	void (*stopped)(void *arg, int sig);
	void *arg;
	/*
	 * Real time after which the command gets SIGTERM, and two seconds later
	 * SIGKILL. 0: none. Sets *expired, which must not be NULL then.
	 */
	uint64_t limit_ns;
	bool *expired;
	/* If not NULL, gets the last signal of fatal_signals() that was handed on. */
	int *interrupted;
};

enum outcome_kind {
	OUTCOME_EXITED,		/* value: exit status */
	OUTCOME_SIGNALED,	/* value: signal */
	OUTCOME_NOT_RUN,	/* value: errno of exec */
	OUTCOME_FAILED,		/* text says why */
	OUTCOME_UNPREPARED,	/* text says why; value as of the preparation */
};

struct outcome {
	uint32_t kind;
	uint32_t value;
	uint64_t real_ns;	/* from start to end */
	uint64_t user_ns;	/* by the command and all it waited for */
	uint64_t system_ns;
	uint32_t stats_size;	/* bytes of stats that follow on the wire */
	char text[300];
};

/*
 * Signals that are blocked and that launch() hands on to the command. A
 * queued one with value 1 goes to the command's whole group.
 */
void launch_signals(sigset_t *set);

/* *stats has the counters of /dev/tense, less the launcher's, or is NULL. */
void launch(const struct launch *l, struct outcome *out, void **stats);

#endif
