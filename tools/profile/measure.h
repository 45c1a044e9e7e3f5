/* SPDX-License-Identifier: GPL-2.0 */
/* Runs the race of a profile's candidates until it is decided or time is over. */
#ifndef TOOLS_PROFILE_MEASURE_H
#define TOOLS_PROFILE_MEASURE_H

#include "profile.h"
#include "whatif/run.h"

/* The status of a run that was ended because no time was left. */
#define PROFILE_OUT_OF_TIME	(-1)
/* The status of a run without a metric, after a message. It does not count. */
#define PROFILE_NO_METRIC	WHATIF_NO_METRIC

/* The runs of a batch that were made, and the real time in them. */
struct profile_made {
	size_t runs;
	size_t dropped;		/* of those */
	uint64_t took_ns;
};

struct profile_runner {
	/* As whatif_session_run(), or one of those above. */
	int (*run)(struct whatif *w, size_t condition,
		   struct whatif_sample *sample, void *arg);
	/*
	 * Makes the runs of a batch on several guests at the same time, instead of
	 * run(): those for which there is time. Appends the samples. NULL: there is
	 * one kernel only. Returns 0, or the status to end with after a message.
	 */
	int (*many)(struct profile *p, const struct profile_batch *batch,
		    uint64_t time_ns, struct profile_made *made, void *arg);
	unsigned int guests;	/* of many(), at the same time */
	bool exact;		/* now() is the sum of the times of all guests */
	/* Real time in ns. */
	uint64_t (*now)(void *arg);
	/* Shows how far it is. what ends with no full stop. */
	void (*progress)(const struct profile *p, uint64_t passed_ns,
			 const char *what, void *arg);
	void *arg;
};

/*
 * Measures and leaves an answer. Returns 0, or the status to end with after a
 * message. If a signal or a failure ends the race after a candidate has run, there is
 * an answer, and p->interrupted or p->failure_status tells why.
 */
int profile_measure(struct profile *p, const struct profile_runner *runner);

/* Notes in p whether the status that ended its runs is that of a signal or of a failure. */
void profile_note_end(struct profile *p, int status);

#endif
