/* SPDX-License-Identifier: GPL-2.0 */
/* Memory, or the end of the program. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

static inline void *had(void *memory)
{
	if (!memory) {
		fputs("sim: out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

static inline void *zalloc(size_t count, size_t size)
{
	return had(calloc(count, size));
}

static inline void *again(void *memory, size_t count, size_t size)
{
	return had(realloc(memory, count * size));
}

#endif
