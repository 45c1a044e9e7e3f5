/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs guests on machines of a cluster. Each batch has a directory, see batch.h. All
 * batches are tasks of one array job, and those that a node lost are submitted again.
 */
#ifndef TOOLS_SLURM_H
#define TOOLS_SLURM_H

struct slurm;

/*
 * Makes a directory for the measurement in shared.
 * options are those of sbatch, as "partition=short,time=10", or NULL. Ends the program
 * if that fails.
 */
struct slurm *slurm_begin(const char *shared, const char *options);

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

/* Returns how many batches nodes run. */
unsigned int slurm_running(const struct slurm *s);

/* Cancels all that is left and removes the directory. */
void slurm_end(struct slurm *s);

#endif
