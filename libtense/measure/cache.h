/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MEASURE_CACHE_H
#define MEASURE_CACHE_H

#include <stddef.h>

/* The size of the largest cache in a directory like .../cpu0/cache; 0: none. */
size_t cache_size(const char *directory);

/* Memory to write to, so that no cache has anything else left. */
struct cache {
	unsigned char *memory;
	size_t size;
};

int cache_prepare(struct cache *cache);	/* 0 or -ENOMEM */
void cache_flush(struct cache *cache);
void cache_free(struct cache *cache);

#endif
