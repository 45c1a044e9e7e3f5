/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs deterministic rounds in batches. Each batch has its own guest and its own
 * seed, so that batches can run at the same time. Batches are judged in the order
 * of their numbers. The answer therefore does not depend on how many of them run
 * at the same time.
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
	 * Runs the batch and returns the status to exit with. Called in a
	 * process of its own, with the signals of launch_signals() blocked.
	 * Standard error of all but the first batch is shown when their turn
	 * comes.
	 */
	int (*run)(const struct whatif_batch *batch, void *arg);
	void *arg;
	unsigned int parallel;	/* most batches at the same time */
	unsigned int least;	/* fewest batches before the first judgement */
};

/*
 * The process of the first batch calls this when its samples are complete. It
 * returns when no other batch still has to begin or runs. Until then the caller
 * must not change files that other batches see.
 */
void whatif_batch_ready(const struct whatif_batch *batch);

/*
 * Runs as many batches as needed. Returns 0 with all samples and the results in
 * *w, or prints a message and returns the status to end with; *w is empty then.
 */
int whatif_batches(const struct whatif_question *asked, struct whatif *w,
		   const struct whatif_batches *b);

#endif
