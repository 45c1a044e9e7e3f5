/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions: can the entry of a function be overwritten, and what would
 * those that were there look like elsewhere?
 */
#ifndef LIBTENSE_REDIRECT_CODE_H
#define LIBTENSE_REDIRECT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_JUMP	5	/* bytes of a jump anywhere within 2 GB */
#define STUB_HOP	2	/* of a jump within 127 bytes */
/* What moved instructions can become at most. */
#define STUB_MOVED_MAX	160

struct redirect_code {
	uintptr_t address;
	size_t size;
	size_t room;	/* size, and the padding behind */
};

struct redirect_move {
	uintptr_t at;		/* what is overwritten */
	unsigned int length;
	unsigned int moved;	/* of whole instructions */
	bool returns;		/* goes on after them */
};

/* False: this is not the machine for it. */
bool redirect_code_init(void);

/* How much of size bytes, from the start, is padding. */
size_t redirect_code_padding(uintptr_t address, size_t size);

/* The size of a function that ends with its first return, or 0. */
size_t redirect_code_until_return(uintptr_t address, size_t most);

/* Where its entry can be overwritten: behind what has to stay. */
uintptr_t redirect_code_entry(uintptr_t address, size_t size);

struct redirect_branch {
	unsigned int length;	/* of the instruction */
	bool call;
	uintptr_t target;	/* 0: it is not a direct branch */
};

/* False: what is at address is not an instruction. */
bool redirect_code_branch(uintptr_t address, size_t size,
			  struct redirect_branch *branch);

/*
 * NULL, or the reason why length bytes of its entry cannot be overwritten.
 * Whether anybody jumps into them is for redirect-branches.h to say.
 */
const char *redirect_code_plan(const struct redirect_code *code,
			       unsigned int length, struct redirect_move *move);

/*
 * Writes what move->moved bytes do, followed by a jump to those after them, to
 * buffer, whose STUB_MOVED_MAX bytes will be run at address. NULL, or a reason.
 */
const char *redirect_code_move(const struct redirect_move *move, uint8_t *buffer,
			   uintptr_t address);

/* A jump of length bytes; false: too far. */
bool redirect_code_jump(uint8_t *buffer, unsigned int length, uintptr_t from,
		    uintptr_t to);

#endif
