/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes into the text of a running program. Text is never mapped writable: like
 * a debugger, this writes through /proc/thread-self/mem.
 */
#ifndef LIBTENSE_REDIRECT_PATCH_H
#define LIBTENSE_REDIRECT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "threads.h"

/* Returns memory that jumps from all of low to high reach, or NULL. */
void *redirect_patch_map(uintptr_t low, uintptr_t high, size_t size);

/*
 * Writes the patches in this order. Meanwhile the other threads of the process
 * are stopped, at instructions that are not overwritten. Returns how many were
 * written. If that is not all, reason says why.
 */
size_t redirect_patch_write(const struct redirect_patch *patches, size_t count,
			const char **reason);

#endif
