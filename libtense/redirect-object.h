/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Redirection within one object, which is the program or a library. */
#ifndef LIBTENSE_REDIRECT_OBJECT_H
#define LIBTENSE_REDIRECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tense_stub;

struct redirect_object {
	uintptr_t bias;		/* from ELF address to address */
	const char *path, *soname;
	bool main;
	bool relocated;
	const char *reason;	/* why none of it can be redirected, or NULL */
};

/* Memory that is in use as long as the object is. */
struct redirect_arena {
	void *at;
	size_t size;
};

/* Returns how many functions were redirected; reports them all. */
size_t redirect_object(const struct redirect_object *of,
				 struct redirect_arena *arena);

/*
 * Makes a function of size bytes at address go through a stub: if patch, for
 * all its callers; else for those that call *entry. NULL or the reason why not.
 */
const char *redirect_probe(uintptr_t address, size_t size,
				   const struct tense_stub *stub, bool patch,
				   uintptr_t *entry);

#endif
