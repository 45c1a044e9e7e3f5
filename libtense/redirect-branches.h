/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the bytes to be overwritten does any other code jump to? That of the
 * function itself, most often; functions written in assembler also jump past
 * each other's first instructions.
 */
#ifndef LIBTENSE_REDIRECT_BRANCHES_H
#define LIBTENSE_REDIRECT_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redirect_entry {
	uintptr_t start, end;	/* of the function */
	uintptr_t at;		/* overwritten from here */
	unsigned int safe;	/* bytes from there that nobody jumps into */
	bool loop;		/* the function jumps to its entry */
	size_t candidate;	/* whose it is */
};

struct redirect_range {
	uintptr_t start, end;
};

/*
 * entries: in order. text: all that may have branches. Of its instructions
 * those near an entry are decoded; of others only long branches can reach it,
 * which are found by what their bytes look like. starts: where instructions
 * begin for sure, in order.
 */
void redirect_branches(struct redirect_entry *entries, size_t count,
		       const struct redirect_range *text, size_t text_count,
		       const uintptr_t *starts, size_t start_count);

#endif
