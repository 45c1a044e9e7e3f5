/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of objects, read once for several searches of one command. A
 * file that changes meanwhile is not read again.
 */
#ifndef TOOLS_OBJECT_CACHE_H
#define TOOLS_OBJECT_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "functions.h"
#include "inlines.h"
#include "program.h"

struct cached_object {
	struct object object;
	struct functions functions;	/* they point to this object */
	int error;			/* of functions_load(); 0: none */
	struct inlines inlines;
	bool inlines_are_read;
};

/* Starts as zeros. */
struct object_cache {
	size_t count;
	struct cached_object **list;	/* pointers stay valid as it grows */
};

/* Reads the functions at the first call for this path. Never NULL. */
struct cached_object *object_cache_get(struct object_cache *cache,
				       const struct object *object);

/* Reads the copies of inlined functions at the first call. None if they have no DWARF. */
const struct inlines *object_cache_inlines(struct cached_object *cached);

void object_cache_free(struct object_cache *cache);

#endif
