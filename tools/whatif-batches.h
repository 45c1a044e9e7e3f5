/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds of deterministic runs, by batches: each batch is a guest of its own,
 * with a seed of its own, so that batches can run at the same time. Batches are
 * judged in the order of their numbers. So the answer does not depend on how
 * many of them run at the same time.
 */
#ifndef TOOLS_WHATIF_BATCHES_H
#define TOOLS_WHATIF_BATCHES_H

#include "whatif.h"

struct whatif_batch {
	unsigned int number;
	unsigned int rounds;	/* without the discarded one */
	uint64_t seed;
	int answer;		/* a file for the JSON of its samples */
	int ready, proceed;	/* pipes of whatif_batch_ready() */
};

struct whatif_batches {
	/*
	 * In a process of its own, with the signals of launch_signals() blocked:
	 * runs the batch and returns the status to exit with. Standard error of
	 * all but the first is shown when it is their turn.
	 */
	int (*run)(const struct whatif_batch *batch, void *arg);
	void *arg;
	unsigned int parallel;	/* run at the same time, at most */
	unsigned int least;	/* before it is asked whether they are enough */
};

/*
 * In the process of the first batch, whose samples are complete: returns when
 * no other batch is still to begin or to run. Until then nothing that the
 * others see may change.
 */
void whatif_batch_ready(const struct whatif_batch *batch);

/*
 * All batches that it takes. 0, with all samples and a conclusion in *w; or the
 * status to end with, after a message, and *w is empty.
 */
int whatif_batches(const struct whatif *asked, struct whatif *w,
		   const struct whatif_batches *b);

#endif
