/* SPDX-License-Identifier: GPL-2.0 */
/* All that a guest gets which is told nothing once it runs. */
#ifndef TOOLS_EXACT_INPUT_H
#define TOOLS_EXACT_INPUT_H

#include "run/guest.h"

struct exact_input {
	off_t position;		/* offset of standard input; -1: no file */
	uint64_t size;		/* bytes of it that were packed */
};

/* A guest with so much memory has room for at most that many bytes of files. */
uint64_t exact_input_most(unsigned long long memory_mib);

/*
 * Packs the command, its files, standard input and the request into fd, a file.
 * Returns 0, or the errno of execvp() for the command. Ends the program where
 * something cannot be packed.
 */
int exact_input_pack(struct exact_input *in, struct guest *g,
		     unsigned long long memory_mib,
		     const struct guest_kernel *kernel, int fd);

/* Packs only the first process of a guest, which then waits for the rest. */
void exact_input_pack_init(int fd);

/* The command has read that many bytes of it: gives the others back. */
void exact_input_end(const struct exact_input *in, uint64_t bytes);

#endif
