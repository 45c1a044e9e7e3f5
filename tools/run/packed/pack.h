/* SPDX-License-Identifier: GPL-2.0 */
/* Packs the files that a command needs in a guest without the host's files. */
#ifndef TOOLS_PACK_H
#define TOOLS_PACK_H

#include "archive.h"

struct pack {
	struct archive files;
	char *const *writable;	/* directories, by their real paths */
	char *const *omitted;	/* files in them that are not for the guest, or NULL */
	uint64_t most;		/* the limit of the files, in bytes */
	unsigned long long memory_mib;	/* the guest's, for messages */
	char *loader;		/* the command's */
	char **objects;		/* files that may need libraries */
	size_t nr_objects;
};

/* These end the program where something cannot be packed. */

/* All files of the writable directories. To be the first. */
void pack_writable(struct pack *p);

/*
 * The program by that name, as execvp() finds it, the interpreters of a script,
 * the loader and the libraries. Returns 0, or the errno of execvp().
 */
int pack_command(struct pack *p, const char *name);

/*
 * A file, or a directory and all that is in it; a name that is no file here, and
 * has no slash, is that of a program.
 */
void pack_file(struct pack *p, const char *path);

/* Adds files that any program may read, and libraries of the objects so far. */
void pack_rest(struct pack *p);

void pack_free(struct pack *p);

#endif
