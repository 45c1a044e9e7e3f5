/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs guests on machines of a cluster. Each batch has a directory, see batch.h. Each call
 * of slurm_watch() submits the new batches as one array job. It submits a batch again if a
 * node lost it.
 */
#ifndef TOOLS_SLURM_H
#define TOOLS_SLURM_H

#include <stdbool.h>

struct slurm;

struct slurm_ask {
	const char *shared;	/* a directory that all nodes see */
	const char *options;	/* of sbatch, as "partition=short,time=10", or NULL */
	unsigned int cpus;	/* of a batch */
	const char *needs;	/* what a node must have, for a message */
};

/* Returns for how many batches with so many CPUs there are idle CPUs, but at least 1. */
unsigned int slurm_room(const char *options, unsigned int cpus);

/* Makes a directory for the measurement in shared. Ends the program if that fails. */
struct slurm *slurm_begin(const struct slurm_ask *ask);

/* A directory in shared, for this user only, whose files stay for later measurements. */
const char *slurm_private(const struct slurm *s);

/* The directory of the measurement, which slurm_end() removes. */
const char *slurm_directory(const struct slurm *s);

/* In the process of a batch: makes the directory of the batch, which the caller frees. */
char *slurm_batch(const struct slurm *s, unsigned int number);

/*
 * Submits the batches up to begun that are not submitted yet, and looks after the others.
 * Called every few 100 ms. Returns 0, or the status to end with after a message.
 */
int slurm_watch(struct slurm *s, unsigned int begun);

/* Returns the name of the node that ran a batch to its end. The caller frees it. */
char *slurm_node(const struct slurm *s, unsigned int number);

/* Whether a node has begun to run a batch since it was last submitted. */
bool slurm_has_begun(struct slurm *s, unsigned int number);

/* Returns how many batches nodes run. */
unsigned int slurm_running(const struct slurm *s);

/* Cancels all that is left and removes the directory. */
void slurm_end(struct slurm *s);

#endif
