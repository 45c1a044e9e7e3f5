/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Languages whose code cannot be scaled, because their functions do not return as those
 * of C do, or because their runtime reads the return addresses on the stacks and takes
 * any other for an error.
 */
#ifndef TENSE_LANGUAGE_H
#define TENSE_LANGUAGE_H

#include <stdbool.h>

/* The languages of a file. Initialize it with { false }. */
struct tense_language {
	bool go, haskell;
};

/* Takes note of a function of the file, by its mangled name. */
void tense_language_note(struct tense_language *of, const char *symbol);

/* Returns why a function of the file cannot be scaled, or NULL. */
const char *tense_language_refuses(const struct tense_language *of, const char *symbol);

/* Notes all functions of a file. A file that cannot be read has none. */
struct tense_language tense_language_of(const char *path);

#endif
