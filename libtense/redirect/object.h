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
	const char *reason;	/* why no function of it can be redirected, or NULL */
};

/* Memory that is used as long as the object is loaded. */
struct redirect_arena {
	void *at;
	size_t size;
};

/* Redirects functions and logs each result. Returns how many were redirected. */
size_t redirect_object(const struct redirect_object *of,
				 struct redirect_arena *arena);

/*
 * Makes a function of size bytes at address go through a stub. With patch, all
 * calls do; without, those through *entry. Returns NULL, or the reason why not.
 */
const char *redirect_probe(uintptr_t address, size_t size,
				   const struct tense_stub *stub, bool patch,
				   uintptr_t *entry);

#endif
