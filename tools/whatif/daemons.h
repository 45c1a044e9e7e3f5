/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drops rounds in which an infrequent daemon of this machine ran for longer
 * than its cutoff. A thread watches the machine during the rounds.
 */
#ifndef TOOLS_WHATIF_DAEMONS_H
#define TOOLS_WHATIF_DAEMONS_H

#include "measure/activity.h"
#include "measure/cutoffs-store.h"
#include "samples.h"

/* CPU time of a process that has a cutoff, between two times, ns since 1970. */
struct daemon_run {
	struct activity activity;
	uint64_t from;
	uint64_t to;
};

struct daemon_runs {
	struct daemon_run *list;
	size_t count;
};

void daemon_runs_add(struct daemon_runs *runs, const struct activity *activity,
		     uint64_t from, uint64_t to);

/*
 * Drops spoiled rounds as a whole, because their other samples suffered too,
 * and notes each. Only notes them if less than WHATIF_ROUNDS_MIN would be left.
 * Returns true if there are any. The caller then draws the conclusion anew.
 */
bool whatif_drop(struct whatif_samples *samples, const struct daemon_runs *runs,
		 const struct cutoff_store *cutoffs);

struct whatif_watch;

/*
 * Starts a thread that watches this machine, except for this process and its
 * children. NULL if no cutoffs are stored, or if it fails; tell asks for a
 * message then.
 */
struct whatif_watch *whatif_watch_begin(bool tell);

/*
 * Stops watching and drops the rounds that daemons spoiled. samples may be NULL.
 * Returns true if there are any. The caller then draws the conclusion anew.
 */
bool whatif_watch_end(struct whatif_watch *watch,
		      struct whatif_samples *samples);

#endif
