/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of an ELF file. */
#ifndef TENSE_SYMBOLS_H
#define TENSE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

enum tense_source {
	TENSE_DYNSYM,		/* exported */
	TENSE_SYMTAB,
	TENSE_DEBUG_FILE,	/* .symtab of the separate debug file */
	TENSE_FRAMES,		/* no symbol, but the tables for exceptions */
};

struct tense_symbol {
	const char *name;	/* mangled, without a version; or +0xVALUE */
	const char *version;	/* NULL if it has none */
	const char *file;	/* source file of a local function, NULL if not known */
	uint64_t value;		/* ELF st_value */
	uint64_t size;		/* 0 if not known */
	uint64_t offset;	/* in the file */
	enum tense_source source;
	bool ifunc;		/* value is that of the resolver */
	bool local;
};

/*
 * Whether a text of an ELF file, or NULL, has no control characters. A terminal may obey
 * them.
 */
bool tense_is_plain(const char *text);

/*
 * Calls each() for the functions of .dynsym and of .symtab. If .symtab was
 * stripped, uses that of the separate debug file. Calls come in the order of
 * values, for each alias, once for duplicates. Afterwards the strings of a symbol
 * are gone. The cold parts that compilers split off are no functions. The few
 * functions that are linked to every object are left out. So are functions whose names
 * have control characters.
 *
 * Returns 0; the result of each(), if that was not 0, without further calls; or
 * -errno. -ENOEXEC: the file is not a program or library. -EBADMSG: it is
 * damaged.
 */
int tense_symbols_each(const char *path,
		       int (*each)(const struct tense_symbol *symbol, void *data),
		       void *data);

/*
 * The same. If there is no .symtab at all, also calls each() for functions without a
 * symbol, which the tables for exceptions describe.
 */
int tense_functions_each(const char *path,
			 int (*each)(const struct tense_symbol *symbol, void *data),
			 void *data);

#endif
