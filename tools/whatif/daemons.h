/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds in which an infrequent daemon of this machine ran for longer than its
 * cutoff: who ran, while rounds are measured, and what of them is then dropped.
 */
#ifndef TOOLS_WHATIF_DAEMONS_H
#define TOOLS_WHATIF_DAEMONS_H

#include "measure/activity.h"
#include "measure/cutoffs-store.h"
#include "whatif.h"

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
 * Drops the rounds, whose other samples are not as they would be either, and
 * notes each. Where less than WHATIF_ROUNDS_MIN were left they are only noted.
 * True if there are any: then they are to be assessed again.
 */
bool whatif_drop(struct whatif *w, const struct daemon_runs *runs,
		 const struct cutoff_store *cutoffs);

struct whatif_watch;

/*
 * Begins to watch this machine by a thread of its own, but for this process and
 * what it starts. NULL if no cutoffs are stored, and if it cannot be done, which
 * is told where that is asked for.
 */
struct whatif_watch *whatif_watch_begin(bool tell);

/* Ends that, and drops from what was measured meanwhile; w may be NULL. */
void whatif_watch_end(struct whatif_watch *watch, struct whatif *w);

#endif
