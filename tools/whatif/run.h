/* SPDX-License-Identifier: GPL-2.0 */
/* One run of the command: an experiment of its own, on this kernel. */
#ifndef TOOLS_WHATIF_RUN_H
#define TOOLS_WHATIF_RUN_H

#include <signal.h>

#include "base/progress.h"
#include "whatif.h"

struct whatif_native {
	const char *tmp;
	char *dir;		/* in it, for files of a run */
	char *libtense;
	char *functions;	/* libtense-functions.so */
	uint64_t ignored;	/* as of struct launch */
	sigset_t mask;
	struct progress progress;
	unsigned int round;	/* runs in a round */
	uint64_t start;		/* when the first run began */
	bool exact;		/* time here is not the user's */
	bool silent;		/* says nothing of its progress */
	bool quiet;		/* the command's output is shown: nothing to explain */
};

void whatif_native_begin(struct whatif_native *n);
void whatif_native_end(struct whatif_native *n);

/* For struct whatif_runner; arg is a struct whatif_native. */
int whatif_native_run(struct whatif *w, size_t condition,
		      struct whatif_sample *sample, void *arg);
void whatif_native_progress(unsigned int done, unsigned int total, void *arg);
void whatif_native_explain(void *arg);

#endif
