/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Constants that C and assembler share. */
#ifndef LIBTENSE_STUB_ASM_H
#define LIBTENSE_STUB_ASM_H

#define STUB_GATES	32768
#define STUB_GATE_SIZE	16
/* Offset in a gate to which its function returns. */
#define STUB_GATE_BACK	4

/* Offset in struct tense_stub. */
#define STUB_RESUME	0

/*
 * DWARF: computes the content of a gate's slot from the gate's address.
 * dup; plus_uconst 11; deref_size 4; plus; plus_uconst 15; deref
 */
#define GATE_SLOT_EXPRESSION \
	0x12, 0x23, 11, 0x94, 4, 0x22, 0x23, 15, 0x06

#endif
