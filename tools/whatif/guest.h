/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures in guests. The tense in a guest reads a request from standard input,
 * does all runs, and leaves the samples as JSON. The tense on the host prints
 * the answer, because it can write any file.
 */
#ifndef TOOLS_WHATIF_GUEST_H
#define TOOLS_WHATIF_GUEST_H

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
