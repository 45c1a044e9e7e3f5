/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of C++ functions as people write them. */
#ifndef TENSE_CXX_NAME_H
#define TENSE_CXX_NAME_H

#include <stdbool.h>

/*
 * Without spaces except between words: "f(int,char)" and "f(int, char)" are the
 * same.
 */
struct tense_cxx_name {
	char *full;		/* int ns::f<int>(int)const */
	char *signature;	/* ns::f<int>(int)const */
	char *name;		/* ns::f<int> */
	char *plain;		/* ns::f */
};

/*
 * Demangles a name by the compiler's library, if that is in this process. In a
 * C++ program it always is. Returns NULL if it is not, or if the name is not
 * mangled. The caller frees the result.
 */
char *tense_demangle(const char *mangled);

/*
 * Takes apart the result of tense_demangle(). Returns false if memory is short or
 * there is no name in it. A thunk, and a function that returns a pointer to a
 * function, have none. Then the caller has nothing to free.
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
