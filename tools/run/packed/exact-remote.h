/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lets another machine run the emulator. A shared directory has all files of the
 * guest: "command", a script which the other machine runs with the name of a directory
 * for its files, and then "result", that directory when the emulator has ended well.
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
 * Copies a file or directory to DIRECTORY/NAME, unless it is there. Ends the program if
 * that fails. Returns the path of the copy.
 */
char *exact_remote_share(const char *path, const char *directory, const char *name);

/*
 * The same for a fetched emulator with the files beside it. An installed one stays where
 * it is: the other machine must have it, too.
 */
char *exact_remote_share_emulator(const char *path, const char *directory);

/* Returns the file in which the guest is packed. */
int exact_remote_initramfs(const char *directory);

/*
 * Makes the script. The emulator gets its files by the descriptors that m has. The script
 * opens them: they must be from 3 to 9, because the shell uses others itself.
 */
void exact_remote_send(const struct exact_remote *r, const struct qemu_machine *m);

/* Has the emulator ended? */
bool exact_remote_is_done(const char *directory);

/* Gets the files. */
void exact_remote_receive(const struct exact_remote *r, int nr_ports);

#endif
