/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs tense in a guest. It reads a request from standard input, does all runs, and leaves
 * the samples as JSON. The tense on the host prints the answer, because it can write any
 * file.
 */
#ifndef TOOLS_WHATIF_GUEST_H
#define TOOLS_WHATIF_GUEST_H

#include <stdio.h>

#include "run/backend.h"
#include "run/engine/engine.h"
#include "run/jobs.h"
#include "run/run-options.h"
#include "whatif.h"

struct whatif_guest {
	const struct backend *backend;
	struct run_options *options;
	struct run *run;
	const struct engine *engine;
	char **argv;		/* of tense, from the name of its command on */
};

/*
 * Calls write() for the request, and passes it to the guest's tense as standard input. The
 * command gets another standard input.
 */
void whatif_guest_send(struct run *run, int (*write)(FILE *f, const void *arg),
		       const void *arg);

/* Runs tense in a guest, which writes its answer to the file. Returns its status. */
int whatif_guest_run(const struct whatif_guest *g, const char *command,
		     const char *answer);

/*
 * Boots one guest, in which "tense COMMAND --inside FILE" reads what write() wrote
 * and leaves its answer in FILE. read() reads that if the command succeeds.
 */
struct whatif_exchange {
	const char *command;
	int (*write)(FILE *f, const void *arg);	/* 0, or -1 with errno */
	void (*read)(const char *path, void *arg);
	void *arg;
};

/* Returns 0, or the status to end with after a message. */
int whatif_guest_exchange(const struct whatif_guest *g,
			  const struct whatif_exchange *exchange);

/*
 * As whatif_guest_exchange(), in the process of a job. The guest writes its answer to a
 * file in the directory, which whatif_guest_answers() made. It becomes the job's answer.
 */
int whatif_guest_job(const struct whatif_guest *g, const struct job *job,
		     const char *directory, const char *command,
		     int (*write)(FILE *f, const void *arg), const void *arg);

/*
 * Makes a directory for the answers of jobs, to which all guests may write. The caller
 * gives it back to whatif_guest_answers_end() when all jobs have ended.
 */
char *whatif_guest_answers(const struct whatif_guest *g);
void whatif_guest_answers_end(char *directory);

/*
 * On a node of a cluster, before anything else: boots one guest of User-Mode Linux for
 * the engine's batch. The request is standard input.
 * Its status and its answer go to standard output. Returns 0 unless the guest failed.
 */
int whatif_guest_batch(struct whatif_guest *g);

/*
 * Sets the facts about the host in e. They come from here. A cluster has several hosts, and
 * counted instructions depend on none, so that e then has none.
 */
void whatif_guest_environment(const struct whatif_guest *g,
			      struct whatif_environment *e,
			      const struct whatif_environment *here);

#endif
