/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What C and assembler have to agree on. */
#ifndef LIBTENSE_STUB_ASM_H
#define LIBTENSE_STUB_ASM_H

#define STUB_GATES	32768
#define STUB_GATE_SIZE	16
/* Where a function returns to, in its gate. */
#define STUB_GATE_BACK	4

/* Of struct tense_stub. */
#define STUB_RESUME	0

/*
 * DWARF: from the address of a gate to what its slot holds.
 * dup; plus_uconst 11; deref_size 4; plus; plus_uconst 15; deref
 */
#define GATE_SLOT_EXPRESSION \
	0x12, 0x23, 11, 0x94, 4, 0x22, 0x23, 15, 0x06

#endif
