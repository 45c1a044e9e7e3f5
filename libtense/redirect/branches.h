/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds out to which of the bytes to be overwritten other code jumps. Most often
 * that is code of the function itself. Functions written in assembler also jump
 * past each other's first instructions.
 */
#ifndef LIBTENSE_REDIRECT_BRANCHES_H
#define LIBTENSE_REDIRECT_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redirect_entry {
	uintptr_t start, end;	/* of the function */
	uintptr_t at;		/* overwritten from here */
	unsigned int safe;	/* bytes from there that no code jumps into */
	bool loop;		/* the function jumps to its entry */
	size_t candidate;	/* index of the candidate that it belongs to */
};

struct redirect_range {
	uintptr_t start, end;
};

/*
 * entries: in order. text: all ranges that may contain branches. The instructions
 * near an entry are decoded. From elsewhere, only long branches reach an entry,
 * and these are found by their bytes. starts: addresses where instructions
 * certainly begin, in order.
 */
void redirect_branches(struct redirect_entry *entries, size_t count,
		       const struct redirect_range *text, size_t text_count,
		       const uintptr_t *starts, size_t start_count);

#endif
