/* SPDX-License-Identifier: GPL-2.0 */
/* Measures for whatif in guests. */
#ifndef TOOLS_WHATIF_GUESTS_H
#define TOOLS_WHATIF_GUESTS_H

#include "guest.h"

/*
 * On the host: each returns 0 with the samples in *w, or the status to end with
 * after a message.
 */

/* Boots one guest for all runs, or as many as the engine has at the same time. */
int whatif_guests_measure(struct whatif *w, const struct whatif_guest *g);

/*
 * Counts instructions in as many guests as needed. Each guest gets all its files
 * before it starts, and nothing that differs between two measurements: no name
 * of a temporary file, no date. Only the files that the first guest writes come
 * back.
 */
int whatif_guests_measure_exactly(struct whatif *w,
				 const struct whatif_guest *g);

/* In the guest: reads the request. Ends the program if it is wrong. */
void whatif_guests_receive(struct whatif *w);

#endif
