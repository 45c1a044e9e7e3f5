/* SPDX-License-Identifier: GPL-2.0 */
/* Resolves a function name in the user's command before the command runs. */
#ifndef TOOLS_RESOLVE_H
#define TOOLS_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_cache;

enum tense_resolution_kind {
	TENSE_RESOLVED,
	TENSE_NOT_FOUND,	/* candidates: the nearest names */
	TENSE_AMBIGUOUS,	/* candidates: the functions it could be */
	TENSE_INLINED,		/* everywhere: there is no function to change */
	TENSE_UNRESOLVABLE,	/* no such command, no such form */
};

struct tense_candidate {
	char *spec;		/* names this function and nothing else */
	char *object;		/* path */
	char *symbol;		/* mangled */
	char *name;		/* for people: demangled, with version */
	char *file;		/* source of a static one, or NULL */
	uint64_t value, size, offset;
	bool ifunc;
};

struct tense_resolution {
	enum tense_resolution_kind kind;
	/*
	 * Resolved, but in an object that the command does not have when it
	 * starts: a library for dlopen, a program that it runs.
	 */
	bool later;
	unsigned inlined;	/* copies that stay as they are */
	size_t count;
	struct tense_candidate *candidates;
	/* Explains the failure; if resolved, it is a warning or NULL. */
	char *message;
};

/*
 * spec is [object:]pattern as of libtense/symbols/spec.h. A resolved one can have
 * several candidates: of a pattern, or copies that the compiler specialised.
 * Further searches of the same command are faster with the same cache, or NULL.
 * Returns result->kind.
 */
enum tense_resolution_kind tense_resolve(const char *spec, char *const *command,
					 struct object_cache *cache,
					 struct tense_resolution *result);
void tense_resolution_free(struct tense_resolution *result);

#endif
