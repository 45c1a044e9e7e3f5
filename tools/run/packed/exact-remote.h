/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets another machine run the emulator. The directory of the batch has all files of
 * the guest, see run/engine/batch.h.
 */
#ifndef TOOLS_EXACT_REMOTE_H
#define TOOLS_EXACT_REMOTE_H

#include "run/proto.h"
#include "run/qemu-machine.h"

struct exact_remote {
	const char *directory;
	int files[CHANNELS_MAX];	/* these get what the ports of the machine got */
	int log;
};

/*
 * Copies a fetched emulator with the files beside it to the directory, unless it is
 * there. An installed one stays where it is: the other machine must have it, too. Returns
 * the path, which the caller frees.
 */
char *exact_remote_share_emulator(const char *path, const char *directory);

/* Returns the file in which the guest is packed. */
int exact_remote_initramfs(const char *directory);

/*
 * Makes the script. The emulator gets its files by the descriptors that m has. The script
 * opens them: they must be from 3 to 9, because the shell uses others itself.
 */
void exact_remote_send(const struct exact_remote *r, const struct qemu_machine *m);

/* Gets the files. */
void exact_remote_receive(const struct exact_remote *r, int nr_ports);

#endif
