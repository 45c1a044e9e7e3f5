/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which functions a text names: [object:]pattern
 *
 * The object is the path of a file, or its name with or without version
 * (libz.so.1.2.13, libz.so.1, libz.so, libz), or a soname; it may be a glob. An
 * empty one (":main") is the executable. Without one it is any object.
 *
 * The pattern is
 *   a name     deflate, _ZN2ns1fEi, or of C++ ns::f(int), ns::f, f; copies that the
 *              compiler specialised (f.isra.0) are the function; ::f is in no scope
 *   NAME@V     that version of it, or with V = 0x... that at this ELF address
 *   =SYMBOL    this symbol and nothing else; @V may follow
 *   +0x1234    in a stripped file, the function without a symbol that begins at this
 *              ELF address; object+0x1234, without a colon, is the same
 *   a glob     with * ? [, over what a name would be compared with
 *   /regex/    extended, found anywhere in the symbol or the demangled name
 */
#ifndef TENSE_SPEC_H
#define TENSE_SPEC_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols.h"

#define TENSE_SPEC_SLOTS	16	/* slot 0 counts time outside of functions */

enum tense_spec_kind {
	TENSE_SPEC_NAME,
	TENSE_SPEC_SYMBOL,
	TENSE_SPEC_GLOB,
	TENSE_SPEC_REGEX,
};

struct tense_spec {
	unsigned slot;
	unsigned percent;	/* times TENSE_FINE */
	unsigned marks;		/* TENSE_MARK_*, and then no slot */
	enum tense_spec_kind kind;
	char *object;		/* NULL: any; "": the executable */
	char *pattern;		/* the name without V, see above */
	char *version;		/* NULL: any */
	uint64_t address;
	bool has_address;
	bool global;		/* ::f */
	char *needle;		/* in each symbol that this can match, or NULL */
	regex_t regex;
	char message[160];
};

/*
 * How well a symbol fits a spec. If several symbols fit, the spec means the best
 * ones.
 */
enum tense_match {
	TENSE_MATCH_NONE,
	TENSE_MATCH_SCOPE,	/* innermost scopes, or no template arguments */
	TENSE_MATCH_NAME,	/* demangled, without parameters */
	TENSE_MATCH_DEMANGLED,
	TENSE_MATCH_SYMBOL,
};

/*
 * Returns 0, or -EINVAL or -ENOMEM with a message, which lives as long as the
 * spec. After an error there is nothing to free.
 */
int tense_spec_parse(const char *text, struct tense_spec *spec,
		     const char **error);

/* Parses "SLOT PERCENT [object:]pattern", or "from" or "to" and [object:]pattern. */
int tense_spec_parse_line(const char *line, struct tense_spec *spec,
			  const char **error);
void tense_spec_free(struct tense_spec *spec);

/* Whether the spec selects several functions on purpose. */
bool tense_spec_is_pattern(const struct tense_spec *spec);

/* Whether it may name a function without a symbol. */
bool tense_spec_is_frame(const struct tense_spec *spec);

/* soname may be NULL. */
bool tense_spec_object(const struct tense_spec *spec, const char *path,
		       const char *soname, bool is_main);

enum tense_match tense_spec_match(const struct tense_spec *spec,
				  const struct tense_symbol *symbol);

/* Compares the name alone. */
bool tense_spec_symbol(const struct tense_spec *spec, const char *mangled);

/* Compares a name that is demangled already, without a return type, as DWARF has it. */
enum tense_match tense_spec_demangled(const struct tense_spec *spec,
				      const char *demangled);

#endif
