/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs rounds in batches. Each batch has its own guest and its own seed, so that
 * batches can run at the same time. Batches are judged in the order of their numbers.
 * If runs are deterministic, the answer therefore does not depend on how many batches
 * run at the same time.
 */
#ifndef TOOLS_WHATIF_BATCHES_H
#define TOOLS_WHATIF_BATCHES_H

#include "run/jobs.h"
#include "whatif.h"

struct whatif_batch {
	const struct job *job;	/* its answer is the JSON of the samples */
	unsigned int rounds;	/* without the discarded one */
	uint64_t seed;
};

struct whatif_batches {
	/*
	 * Runs the batch and returns the status to exit with, as the function of
	 * struct jobs.
	 */
	int (*run)(const struct whatif_batch *batch, void *arg);
	/*
	 * Shows how many of at most total batches are done. Messages of batches are
	 * shown when their turn comes, but see first_shows. May be NULL.
	 */
	void (*progress)(unsigned int done, unsigned int total, void *arg);
	/*
	 * Called every few 100 ms with the number of batches that have begun. Returns
	 * 0, or the status to end with. May be NULL.
	 */
	int (*watch)(unsigned int begun, void *arg);
	/* Called once per batch, in order of number, with its samples. May be NULL. */
	void (*taken)(unsigned int number, const struct whatif *batch, void *arg);
	void *arg;
	bool first_shows;	/* the first batch writes to standard error itself */
	unsigned int each;	/* most rounds of a batch; 3, if one is left over */
	unsigned int parallel;	/* most batches at the same time */
	unsigned int least;	/* fewest batches before the first judgement */
	bool ahead;		/* begins batches that may turn out unneeded */
};

/*
 * Runs as many batches as needed. Returns 0 with all samples and the results in
 * *w, or prints a message and returns the status to end with; *w is empty then.
 */
int whatif_batches(const struct whatif_question *asked, struct whatif *w,
		   const struct whatif_batches *b);

#endif
