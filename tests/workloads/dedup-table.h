/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DEDUP_TABLE_H
#define DEDUP_TABLE_H

#include "dedup.h"

/* The table of known chunks, shared by all threads. */
struct table *table_new(void);
void table_free(struct table *table);
/* Sets *first if nobody asked for this hash before. */
struct known *table_find(struct table *table, const uint8_t *hash,
			 uint32_t length, bool *first);

#endif
