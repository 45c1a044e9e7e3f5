// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CACHES		"/sys/devices/system/cpu/cpu0/cache"
#define INDICES		8
#define LINE		64
/* For machines that do not tell: more than most have. */
#define UNKNOWN_SIZE	((size_t)32 << 20)
/* A server's cache is shared, and a CPU uses a part of it. */
#define MAX_SIZE	((size_t)256 << 20)

static size_t size_of(const char *directory, int index)
{
	unsigned long size = 0;
	char path[300], unit = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/index%d/size", directory, index);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%lu%c", &size, &unit) < 1)
		size = 0;
	fclose(f);
	return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

size_t cache_size(const char *directory)
{
	size_t largest = 0;

	for (int i = 0; i < INDICES; i++) {
		size_t size = size_of(directory, i);

		largest = size > largest ? size : largest;
	}
	return largest;
}

int cache_prepare(struct cache *cache)
{
	size_t size = cache_size(CACHES);

	if (!size)
		size = UNKNOWN_SIZE;
	/* In a cache of few ways, not all of the last data stays. */
	cache->size = 2 * (size < MAX_SIZE ? size : MAX_SIZE);
	cache->memory = calloc(1, cache->size);
	return cache->memory ? 0 : -ENOMEM;
}

void cache_flush(struct cache *cache)
{
	for (size_t i = 0; i < cache->size; i += LINE)
		((volatile unsigned char *)cache->memory)[i]++;
}

void cache_free(struct cache *cache)
{
	free(cache->memory);
}
