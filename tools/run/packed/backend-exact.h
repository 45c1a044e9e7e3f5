/* SPDX-License-Identifier: GPL-2.0 */
/* The back end of run->deterministic. It has no name of its own. */
#ifndef TOOLS_BACKEND_EXACT_H
#define TOOLS_BACKEND_EXACT_H

#include "run/backend.h"

extern const struct backend backend_exact;

/* Builds the kernel and fetches the emulator for this process and its children. */
void backend_exact_prepare(void);

#endif
