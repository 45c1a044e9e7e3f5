/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people call a C++ function. */
#ifndef TENSE_CXX_NAME_H
#define TENSE_CXX_NAME_H

#include <stdbool.h>

/*
 * Without spaces but those between words, so that "f(int,char)" and
 * "f(int, char)" are the same.
 */
struct tense_cxx_name {
	char *full;		/* int ns::f<int>(int)const */
	char *signature;	/* ns::f<int>(int)const */
	char *name;		/* ns::f<int> */
	char *plain;		/* ns::f */
};

/*
 * The name as the compiler's library demangles it, if it is in this process:
 * with C++ programs it always is. NULL if not, or if this is not a mangled
 * name. The caller frees it.
 */
char *tense_demangle(const char *mangled);

/*
 * Takes apart what tense_demangle() returned. False if memory is short or
 * there is no name in it, as of a thunk or of a function that returns a
 * pointer to a function; then nothing is to be freed.
 */
bool tense_cxx_name_parse(const char *demangled, struct tense_cxx_name *name);
void tense_cxx_name_free(struct tense_cxx_name *name);

/* A copy without needless spaces; NULL if memory is short. */
char *tense_cxx_squeeze(const char *text);

/*
 * Whether there is a * ? or [ that is not C++: "f(char*)" and "operator[]" are
 * names.
 */
bool tense_cxx_is_glob(const char *text);

/* The name after its first scope: "g" of "f<a::b>::g"; NULL if it has none. */
const char *tense_cxx_inner(const char *name);

#endif
