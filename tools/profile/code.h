/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code of one file: the functions at places in it, and how to find a function's
 * caller. All places are offsets in the file.
 */
#ifndef TOOLS_PROFILE_CODE_H
#define TOOLS_PROFILE_CODE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "names/functions.h"

/* A loaded part of the file. */
struct code_segment {
	uint64_t offset, size;	/* in the file */
	uint64_t address;	/* of the ELF file */
};

/* One frame of the table of .eh_frame_hdr. */
struct code_frame {
	uint64_t offset;	/* of its first instruction, in the file */
};

struct code {
	struct object object;
	char *name;		/* as people call it: libz */
	int fd;			/* -1: the file could not be read */
	Elf *elf;
	Dwarf_CFI *cfi;		/* NULL: it has none */
	uint64_t entry;		/* where the program begins, or 0 */
	struct code_segment *segments;
	size_t nr_segments;
	struct code_segment *linkage;	/* sections with PLT entries */
	size_t nr_linkage;
	struct functions functions;	/* in the order of offsets */
	struct code_frame *frames;	/* the same */
	size_t nr_frames;
};

/* Opens the file at path. A file that cannot be read has no functions. */
struct code *code_open(const char *path);
void code_free(struct code *code);

/* Returns the function that contains a place, or NULL. */
const struct function *code_function(const struct code *code, uint64_t offset);

/*
 * Returns the offset at which the function at a place begins, by the tables for
 * exceptions, which stripped files have, too. Returns false if they do not know it.
 */
bool code_begin(const struct code *code, uint64_t offset, uint64_t *begin);

/* Whether the place is in a PLT entry, which only jumps to a function. */
bool code_is_linkage(const struct code *code, uint64_t offset);

/* Returns the ELF address of a place. */
bool code_address(const struct code *code, uint64_t offset, uint64_t *address);

#endif
