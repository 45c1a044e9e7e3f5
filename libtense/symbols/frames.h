/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that the tables for exceptions describe: stripped files have them. */
#ifndef TENSE_FRAMES_H
#define TENSE_FRAMES_H

#include <stdint.h>

#include <gelf.h>

/*
 * Calls each() for the functions of .text that .eh_frame describes, in no order.
 * Leaves out code to which other functions jump while they have a frame, such as the
 * cold parts that compilers split off, and code that no one calls, such as _start
 * and the code to which signal handlers return. x86_64 only.
 *
 * A damaged table ends the calls. Returns 0, or the result of each(), if that was
 * not 0.
 */
int tense_frames_each(Elf *elf,
		      int (*each)(uint64_t value, uint64_t size, void *data),
		      void *data);

#endif
