/* SPDX-License-Identifier: GPL-2.0 */
/* Measures on this kernel. Each run of the command has its own experiment. */
#ifndef TOOLS_WHATIF_RUN_H
#define TOOLS_WHATIF_RUN_H

#include "run/backend.h"
#include "whatif.h"

/*
 * Returns 0 with the samples in *w, or the status to end with after a message.
 * inside: this process runs in a guest.
 */
int whatif_native_measure(struct whatif *w, const struct run *run,
			  bool inside);

#endif
