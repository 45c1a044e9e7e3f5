/* SPDX-License-Identifier: GPL-2.0 */
/* Copies of functions that the compiler put into others, told by DWARF. */
#ifndef TOOLS_INLINES_H
#define TOOLS_INLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INLINED_CALLERS		3

struct inlined {
	char *symbol;		/* mangled, of C the name */
	char *file;		/* NULL where the symbol tells it from others */
	unsigned copies;	/* that have instructions */
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

/*
 * From the file at path or its debug file. 0, -ENODATA if there is no DWARF,
 * -EBADMSG if it is damaged, -ENOEXEC and the like.
 */
int inlines_load(const char *path, struct inlines *inlines);
void inlines_free(struct inlines *inlines);

/* Of the function at this address, or -1 if DWARF does not know it. */
int inlines_copies(const struct inlines *inlines, uint64_t value);

#endif
