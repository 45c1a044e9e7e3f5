/* SPDX-License-Identifier: GPL-2.0 */
/* Empties the caches of the CPUs before a command runs. */
#ifndef MEASURE_COLD_H
#define MEASURE_COLD_H

struct cold;

/* Returns NULL if there is no memory. */
struct cold *cold_new(void);
void cold_free(struct cold *cold);

/* Empties the caches of each CPU that this process, and so the command, may use. */
void cold_empty(struct cold *cold);

#endif
