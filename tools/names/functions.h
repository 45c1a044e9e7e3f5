/* SPDX-License-Identifier: GPL-2.0 */
/* The functions of the objects of a program. */
#ifndef TOOLS_FUNCTIONS_H
#define TOOLS_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtense/symbols/spec.h"
#include "inlines.h"
#include "program.h"

struct function {
	const struct object *object;
	char *symbol;		/* mangled */
	char *name;		/* demangled, if it is C++ */
	char *version, *file;	/* or NULL */
	uint64_t value, size, offset;
	enum tense_source source;
	bool ifunc, local;
	bool shared_symbol;	/* by another function of the object */
};

struct functions {
	size_t count, room;
	struct function *list;
};

/* Adds those of an object: 0 or -errno as of tense_symbols_each(). */
int functions_load(struct functions *functions, const struct object *object);
void functions_drop_nameless(struct functions *functions);
void functions_free(struct functions *functions);

/* Explains the error and says what the user can do. */
const char *functions_error(int err);

/* Whether stripping the file would have taken the function's name. */
bool function_in_symtab(const struct function *function);

/* Whether the function has no symbol, so that its name is +0x and its address. */
bool function_is_nameless(const struct function *function);

enum tense_match function_match(const struct function *function,
				const struct tense_spec *spec);

/*
 * DWARF has no symbols of functions that C++ keeps to one file: it has names
 * without scopes.
 */
bool inlined_match(const struct inlined *inlined, const struct tense_spec *spec);

bool object_match(const struct object *object, const struct tense_spec *spec);

/* The same function, or a copy of it that the compiler specialised. */
bool function_same(const struct function *a, const struct function *b);

/* A text for libtense/symbols/spec.h that names this symbol and no other. */
char *function_spec(const struct function *function);

/* A shorter one for people, which another object may have as well. */
char *function_short_spec(const struct function *function);

/* The object as people call it: libz of libz.so.1.2.13. */
char *object_short_name(const struct object *object);

#endif
