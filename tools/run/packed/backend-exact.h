/* SPDX-License-Identifier: GPL-2.0 */
/* The back end of run->deterministic. It has no name of its own. */
#ifndef TOOLS_BACKEND_EXACT_H
#define TOOLS_BACKEND_EXACT_H

#include "run/backend.h"

extern const struct backend backend_exact;

/*
 * Builds the kernel, fetches the emulator, and finds a saved boot for guests with one CPU,
 * for this process and its children. Their runs have as much memory as this one.
 */
void backend_exact_prepare(const struct run *run);

/*
 * Copies what a guest needs besides its files for other machines, after
 * backend_exact_prepare(): the kernel and the emulator to directory, or not at all if it
 * is NULL, and the rest to measurement.
 */
void backend_exact_share(const char *directory, const char *measurement);

/* Returns the directory of guests' kernels and emulators, which the caller frees. */
char *backend_exact_cache(void);

#endif
