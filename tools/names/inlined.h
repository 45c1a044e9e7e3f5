/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of which the compiler put copies into others. */
#ifndef TOOLS_INLINED_H
#define TOOLS_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INLINED_CALLERS		3

struct inlined {
	char *symbol;		/* mangled, of C the name */
	char *file;		/* NULL where the symbol tells it from others */
	unsigned copies;	/* copies that have instructions */
	bool out_of_line;	/* there is a function as well */
	char *callers[INLINED_CALLERS];	/* some functions that have copies */
};

struct out_of_line {
	uint64_t value;		/* as of struct tense_symbol */
	const struct inlined *function;	/* NULL: never inlined */
};

struct inlines {
	size_t count;
	struct inlined *functions;
	size_t nr_concrete;
	struct out_of_line *concrete;	/* by value */
};

#endif
