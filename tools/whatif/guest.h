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
#include "run/run-options.h"
#include "whatif.h"

struct whatif_guest {
	const struct backend *backend;
	struct run_options *options;
	struct run *run;
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

/* Boots one guest for all runs. */
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
