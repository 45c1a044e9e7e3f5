/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels that tense builds for its guests; see the script kernel-build. */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include <stdbool.h>

/* The versions that can be built, as words and as a list; the first is the default. */
#define KERNEL_VERSIONS		"6.1 7.2"
#define KERNEL_VERSION_LIST	"6.1", "7.2"

/*
 * All functions here are about this version from now on. Ends the program if it is
 * none of them. Without a call, the version is TENSE_KERNEL_VERSION of the
 * environment, or the default.
 */
void kernel_choose(const char *version);

/*
 * Chooses a version that can have several CPUs in User-Mode Linux, unless the user has
 * chosen one. Fetches its source if need be. Returns false if the chosen version has
 * one CPU there. Also returns false, after a message, if the source cannot be fetched.
 */
bool kernel_choose_for_cpus(void);

/* Returns how many CPUs this version can have in User-Mode Linux. */
unsigned int kernel_uml_cpus(void);

/*
 * Returns the directory with the kernel and tense.ko. Builds them first if they do
 * not exist, and shows a progress bar on a terminal, lines elsewhere. Ends the
 * program on failure.
 */
char *kernel_build(const char *arch);

/* From here on, kernel_build() returns this directory: another tense built it. */
void kernel_use(const char *directory);

/* Where it would be, or NULL when that cannot be told. */
char *kernel_directory(const char *arch);

/* Lists what is missing for a build, in lines; NULL: nothing. */
char *kernel_missing(const char *arch);

#endif
