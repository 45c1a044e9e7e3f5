/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions: whether the entry of a function can be overwritten, and how its
 * first instructions look at another address.
 */
#ifndef LIBTENSE_REDIRECT_CODE_H
#define LIBTENSE_REDIRECT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_JUMP	5	/* bytes of a jump anywhere within 2 GB */
#define STUB_HOP	2	/* of a jump within 127 bytes */
/* Most bytes that moved instructions can become. */
#define STUB_MOVED_MAX	160

struct redirect_code {
	uintptr_t address;
	size_t size;
	size_t room;	/* size, and the padding behind */
};

struct redirect_move {
	uintptr_t at;		/* start of the bytes that are overwritten */
	unsigned int length;
	unsigned int moved;	/* length in whole instructions */
	bool returns;		/* execution continues after them */
};

/* Returns false if this machine has other instructions. */
bool redirect_code_init(void);

/* Returns how many of size bytes, from the start, are padding. */
size_t redirect_code_padding(uintptr_t address, size_t size);

/* Returns the size of a function that ends with its first return, or 0. */
size_t redirect_code_until_return(uintptr_t address, size_t most);

/*
 * Returns the address from which the entry can be overwritten, after bytes that
 * must stay.
 */
uintptr_t redirect_code_entry(uintptr_t address, size_t size);

struct redirect_branch {
	unsigned int length;	/* of the instruction */
	bool call;
	uintptr_t target;	/* 0: not a direct branch */
};

/* Returns false if there is no instruction at address. */
bool redirect_code_branch(uintptr_t address, size_t size,
			  struct redirect_branch *branch);

/*
 * Returns NULL, or the reason why length bytes of the entry cannot be
 * overwritten. redirect-branches.h tells whether other code jumps into them.
 */
const char *redirect_code_plan(const struct redirect_code *code,
			       unsigned int length, struct redirect_move *move);

/*
 * Writes the first move->moved bytes of instructions to buffer, changed so that
 * they run at address, and a jump to the instructions after them. buffer has room
 * for STUB_MOVED_MAX bytes. Returns NULL, or a reason.
 */
const char *redirect_code_move(const struct redirect_move *move, uint8_t *buffer,
			   uintptr_t address);

/* Writes a jump of length bytes; false if it is too far. */
bool redirect_code_jump(uint8_t *buffer, unsigned int length, uintptr_t from,
		    uintptr_t to);

#endif
