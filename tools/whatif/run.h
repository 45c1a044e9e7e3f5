/* SPDX-License-Identifier: GPL-2.0 */
/* Measures on this kernel. Each run of the command has its own experiment. */
#ifndef TOOLS_WHATIF_RUN_H
#define TOOLS_WHATIF_RUN_H

#include "run/backend.h"
#include "whatif.h"

/*
 * Returns 0 with the samples in *w, or the status to end with after a message.
 * inside: this process runs in a guest.
 */
int whatif_native_measure(struct whatif *w, const struct run *run,
			  bool inside);

/* Runs one command many times, in the order that the caller likes. */
struct whatif_session;

/* Ends the program if the libraries are missing. inside: as above. */
struct whatif_session *whatif_session_begin(const struct run *run,
					    bool inside);

/*
 * Ends each further run by SIGTERM after that much real time, and by SIGKILL two
 * seconds later. 0 is no limit.
 */
void whatif_session_limit(struct whatif_session *session, uint64_t limit_ns);

/* The status of a run whose metric is 0. */
#define WHATIF_NO_METRIC	(-2)

/* Further runs whose metric is 0 end with WHATIF_NO_METRIC, and are no failures. */
void whatif_session_drop_zero(struct whatif_session *session);

/*
 * Tells that an earlier run of the command succeeded, as a survey does. If a run fails,
 * the message then asks whether the command changes its input.
 */
void whatif_session_succeeded(struct whatif_session *session);

/* Did the last run reach its limit? */
bool whatif_session_expired(const struct whatif_session *session);

/*
 * Runs a condition of the plan once. The caller sets round, order and condition of
 * the sample. Round 0 may lack a metric. Returns 0, or the status to end with after
 * a message: STATUS_SIGNAL + n without one after a signal.
 */
int whatif_session_run(struct whatif_session *session, struct whatif *w,
		       size_t condition, struct whatif_sample *sample);

void whatif_session_end(struct whatif_session *session);

#endif
