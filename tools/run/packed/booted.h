/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Saved boots: the memory of a guest that has booted and waits for its archive, and the state
 * of its devices. To resume from there takes a fifteenth of the time of a boot.
 */
#ifndef TOOLS_BOOTED_H
#define TOOLS_BOOTED_H

#include <stdbool.h>

#include "run/qemu-machine.h"

/* Their names in the cache begin so. */
#define BOOTED_PREFIX	"booted-"

struct booted {
	char *directory;		/* in the cache, or NULL: only this process has it */
	int files[QEMU_BOOTED_FILES];	/* a lock on one keeps it there until this process ends */
};

/*
 * Finds the saved boot of this machine. Boots the machine first if the cache has none, or is
 * NULL. Ends the program if that fails.
 */
void booted_find(struct booted *b, const struct qemu_machine *m, const char *cache);

/* Copies the saved boot to a new directory in this one, and returns its path. */
char *booted_share(const struct booted *b, const char *directory);

/* Returns the path of a file in such a directory, which the caller frees. */
char *booted_path(const char *directory, int file);

#endif
