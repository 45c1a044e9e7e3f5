/* SPDX-License-Identifier: GPL-2.0 */
/* Makes QEMU save a machine that has booted, and resume it. */
#ifndef TOOLS_BOOTED_SAVE_H
#define TOOLS_BOOTED_SAVE_H

#include "run/qemu-machine.h"

/* Returns the machine that is saved for one like this. It has no files yet. */
struct qemu_machine booted_machine(const struct qemu_machine *like);

/*
 * Boots a machine like this until it stops itself, and saves its memory and its state in the
 * files, which are empty. The log gets what the guest and the emulator say. Returns NULL, or
 * the reason why that failed.
 */
const char *booted_save(const struct qemu_machine *like, const int files[QEMU_BOOTED_FILES], int log);

/*
 * Lets the machine resume from its files. Its initramfs gets the size of a
 * device's memory. Writes to a file what the emulator is to do.
 */
void booted_use(struct qemu_machine *m, int commands);

/* In a child: the program that it executes gets the files. */
void booted_pass(const int files[QEMU_BOOTED_FILES]);

#endif
