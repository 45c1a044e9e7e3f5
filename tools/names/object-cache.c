// SPDX-License-Identifier: GPL-2.0
#include "object-cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static struct cached_object *create(const struct object *object)
{
	struct cached_object *cached = xmalloc(sizeof(*cached));

	*cached = (struct cached_object){ .object = *object };
	cached->object.path = xstrdup(object->path);
	cached->object.soname = object->soname ? xstrdup(object->soname) : NULL;
	cached->error = functions_load(&cached->functions, &cached->object);
	return cached;
}

struct cached_object *object_cache_get(struct object_cache *cache,
				       const struct object *object)
{
	for (size_t i = 0; i < cache->count; i++)
		if (!strcmp(cache->list[i]->object.path, object->path))
			return cache->list[i];
	cache->list = xrealloc(cache->list, (cache->count + 1) * sizeof(void *));
	cache->list[cache->count] = create(object);
	return cache->list[cache->count++];
}

const struct inlines *object_cache_inlines(struct cached_object *cached)
{
	if (!cached->inlines_are_read)
		inlines_load(cached->object.path, &cached->inlines);
	cached->inlines_are_read = true;
	return &cached->inlines;
}

void object_cache_free(struct object_cache *cache)
{
	for (size_t i = 0; i < cache->count; i++) {
		struct cached_object *cached = cache->list[i];

		functions_free(&cached->functions);
		inlines_free(&cached->inlines);
		free(cached->object.path);
		free(cached->object.soname);
		free(cached);
	}
	free(cache->list);
	memset(cache, 0, sizeof(*cache));
}
