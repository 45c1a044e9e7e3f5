/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the objects that the dynamic loader opens for a program or library. */
#ifndef TOOLS_LOADER_H
#define TOOLS_LOADER_H

#include <gelf.h>

/* The loader that an executable asks for, or NULL; the caller frees it. */
char *loader_of(Elf *elf);

/*
 * Why this loader must not be asked, which the caller frees; NULL: it may be. A file can
 * name any program as its loader, and asking runs it.
 */
char *loader_objection(const char *loader);

/*
 * Calls back for each object that the loader opens to start path, the loader
 * included, with its requested name and its path; NULL if there is none.
 * Returns the loader's status, as of waitpid().
 */
int loader_list(const char *loader, const char *path,
		void (*tell)(void *arg, const char *name, const char *path),
		void *arg);

#endif
