/* SPDX-License-Identifier: GPL-2.0 */
/* Where jobs run their guests: on this machine, or on a cluster. */
#ifndef TOOLS_WHATIF_SITE_H
#define TOOLS_WHATIF_SITE_H

#include <signal.h>
#include <stdio.h>

#include "guest.h"
#include "run/engine/native-batch.h"
#include "run/engine/slurm.h"

struct whatif_site {
	const struct whatif_guest *guest;
	bool exact;		/* guests count instructions */
	char *directory;	/* of the answers of guests here at native speed */
	struct slurm *slurm;	/* NULL: the guests are here */
	unsigned int first_batch;	/* number of job 0's batch */
	struct native_batch batch;
	char *kernel;
	sigset_t mask;		/* before the signals that end tense were blocked */
};

/* Ends the program on failure. For deterministic runs, the caller sets run->files before. */
void whatif_site_begin(struct whatif_site *site, const struct whatif_guest *guest);

/* The command in the guest of a job, see whatif_guest_job(). */
struct whatif_site_job {
	const char *command;
	int (*write)(FILE *f, const void *arg);
	const void *arg;
	uint64_t seed;		/* of a guest that counts instructions */
	bool keeps_files;	/* which such a guest wrote */
};

/* In the process of a job. Returns the status to exit with. */
int whatif_site_run(const struct whatif_site *site, const struct job *job,
		    const struct whatif_site_job *what);

/*
 * Called every few 100 ms with how many jobs have begun. Returns 0, or the status to end
 * with after a message.
 */
int whatif_site_watch(struct whatif_site *site, unsigned int begun);

/* Whether a job's guest has left the queue of a cluster. */
bool whatif_site_has_begun(const struct whatif_site *site, unsigned int job);

/*
 * Returns the node that a job ran on, which the caller frees. NULL: this machine, or any,
 * because instructions are the same everywhere.
 */
char *whatif_site_node(const struct whatif_site *site, unsigned int job);

/* Call when all jobs have ended: job numbers restart at 0, but batch numbers go on. */
void whatif_site_restart_jobs(struct whatif_site *site, unsigned int begun);

void whatif_site_end(struct whatif_site *site);

#endif
