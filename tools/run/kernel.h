/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels that tense builds for its guests; see the script kernel-build. */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include <stdbool.h>

/* The versions that can be built, as words and as a list. */
#define KERNEL_VERSIONS		"6.1 7.2"
#define KERNEL_VERSION_LIST	"6.1", "7.2"

/*
 * All functions here are about this version from now on. Ends the program if it is
 * none of them. Without a call, the version is TENSE_KERNEL_VERSION of the
 * environment, or 6.1.
 */
void kernel_choose(const char *version);

/* Has the user chosen a version, or one of these functions? */
bool kernel_is_chosen(void);

/*
 * Chooses the version for User-Mode Linux unless the user has chosen one: 7.2, whose
 * source it fetches if need be. Returns false, after a message, if that failed; the
 * version is then 6.1.
 */
bool kernel_choose_for_uml(void);

/* The same without a fetch: as if it succeeded, unless something for it is missing. */
void kernel_expect_for_uml(void);

/*
 * Returns how many CPUs this version can have in User-Mode Linux. If several, the host
 * need not trace the guest's programs.
 */
unsigned int kernel_uml_cpus(void);

/*
 * Returns the directory with the kernel and tense.ko. Builds them first if they do
 * not exist, and shows a progress bar on a terminal, lines elsewhere. Ends the
 * program on failure.
 */
char *kernel_build(const char *arch);

/*
 * From here on, kernel_build() returns this directory: another tense built it. Its name,
 * as of kernel-build, has the version.
 */
void kernel_use(const char *directory);

/* Where it would be, or NULL when that cannot be told. */
char *kernel_directory(const char *arch);

/* Lists what is missing for a build, in lines; NULL: nothing. */
char *kernel_missing(const char *arch);

#endif
