/* SPDX-License-Identifier: GPL-2.0 */
/* Functions scaled by the kernel's breakpoints, where no library can do it. */
#ifndef TOOLS_WHATIF_PROBE_H
#define TOOLS_WHATIF_PROBE_H

#include "found.h"
#include "plan.h"
#include "samples.h"

/*
 * In the process that is to be the command, and in its experiment: asks for
 * the breakpoints of found->probes. 0, or -1 with errno and what failed in *what.
 */
int whatif_probe(const struct whatif_plan *plan,
		 const struct whatif_found *found, size_t condition,
		 const char **what);

/* Notes in the samples that they were there. */
void whatif_probe_told(const struct whatif_found *found,
		       struct whatif_samples *samples);

/*
 * Does the slot count calls of a function that the progress point also names? Only one
 * of both has it.
 */
bool whatif_probe_shares(const struct whatif_samples *samples, unsigned int progress,
			 unsigned int slot);

#endif
