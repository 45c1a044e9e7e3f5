/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures in guests. The tense in a guest reads a request from standard input,
 * does all runs, and leaves the samples as JSON. The tense on the host prints
 * the answer, because it can write any file.
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
};

/*
 * On the host: each returns 0 with the samples in *w, or the status to end with
 * after a message.
 */

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
void whatif_guest_answers_end(char *directory, unsigned int jobs);

/* Boots one guest for all runs, or as many as the engine has at the same time. */
int whatif_guest_measure(struct whatif *w, const struct whatif_guest *g);

/*
 * Counts instructions in as many guests as needed. Each guest gets all its files
 * before it starts, and nothing that differs between two measurements: no name
 * of a temporary file, no date. Only the files that the first guest writes come
 * back.
 */
int whatif_guest_measure_exactly(struct whatif *w,
				 const struct whatif_guest *g);

/* In the guest: reads the request. Ends the program if it is wrong. */
void whatif_guest_receive(struct whatif *w);

#endif
