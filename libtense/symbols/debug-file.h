/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Separate debug files, as gdb and eu-unstrip look for them. */
#ifndef TENSE_DEBUG_FILE_H
#define TENSE_DEBUG_FILE_H

#include <libelf.h>

/* Directories, separated by colons, instead of /usr/lib/debug. */
#define TENSE_DEBUG_PATH	"TENSE_DEBUG_PATH"

/* Opens an ELF file for reading. Returns 0 or -errno, as tense_symbols_each(). */
int tense_elf_open(const char *path, int *fd, Elf **elf);
void tense_elf_close(int fd, Elf *elf);

/*
 * Returns the path of the debug file that belongs to the ELF file at path, by its
 * build ID or its .gnu_debuglink. NULL if there is none. The caller frees it.
 */
char *tense_debug_file(Elf *elf, const char *path);

#endif
