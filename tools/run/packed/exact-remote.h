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
	const char *booted;		/* the directory of its saved boot */
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

/* Sets the descriptors of a saved boot's files on the other machine. */
void exact_remote_number(int booted[QEMU_BOOTED_FILES]);

/* Makes the script, and gives m the descriptors of the other machine. */
void exact_remote_send(const struct exact_remote *r, struct qemu_machine *m);

/* Gets the files. */
void exact_remote_receive(const struct exact_remote *r, int nr_ports);

#endif
