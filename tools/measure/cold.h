/* SPDX-License-Identifier: GPL-2.0 */
/* Empties the caches of the CPUs before a command runs. */
#ifndef MEASURE_COLD_H
#define MEASURE_COLD_H

struct cold;

/* NULL without memory. */
struct cold *cold_new(void);
void cold_free(struct cold *cold);

/* On each CPU that this process may use, since the command may run on any. */
void cold_empty(struct cold *cold);

#endif
