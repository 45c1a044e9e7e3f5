/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing into the text of a running program. Text is never mapped writable:
 * it is written as a debugger does, through /proc/self/mem.
 */
#ifndef LIBTENSE_REDIRECT_PATCH_H
#define LIBTENSE_REDIRECT_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redirect_patch {
	uintptr_t at;
	unsigned int length;
	uint8_t bytes[8];
};

/* Memory that jumps from anywhere within low to high reach, or NULL. */
void *redirect_patch_map(uintptr_t low, uintptr_t high, size_t size);

/*
 * Writes them in this order, with the other threads of the process stopped at
 * instructions that are not overwritten. Returns how many were written; if
 * that is not all, reason says why.
 */
size_t redirect_patch_write(const struct redirect_patch *patches, size_t count,
			const char **reason);

#endif
