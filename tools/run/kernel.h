/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels that tense builds for its guests; see the script kernel-build. */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include <stdbool.h>

/* The versions that can be built, as words and as a list. */
#define KERNEL_VERSIONS		"6.1 7.2 7.3"
#define KERNEL_VERSION_LIST	"6.1", "7.2", "7.3"

/*
 * All functions here are about this version from now on. Ends the program if it is
 * none of them. Without a call, the version is TENSE_KERNEL_VERSION of the
 * environment, or 6.1.
 */
void kernel_choose(const char *version);

/* Undoes that. */
void kernel_choose_none(void);

/* Returns the version of guests' kernels: the chosen one, or 6.1. */
const char *kernel_version(void);

/* True if the user or kernel_choose() has decided about the version. */
bool kernel_is_decided(void);

/*
 * Chooses the version for User-Mode Linux, unless the user has: the first of 7.3 and 7.2 whose
 * source is in the cache, or else can be fetched. Returns false, after a message, if the fetch
 * fails; the version is then 6.1. Ends the program, after a message, if the cache cannot be
 * written and holds no kernel of Linux 6.1.
 */
bool kernel_choose_for_uml(void);

/*
 * Chooses as kernel_choose_for_uml() does, but fetches nothing: assumes that a fetch
 * succeeds if all that it needs is here.
 */
void kernel_expect_for_uml(void);

/*
 * Does User-Mode Linux of this version confine programs by filters of their system calls?
 * Otherwise it traces them.
 */
bool kernel_uses_filters(void);

/* Returns how many CPUs this version can have in User-Mode Linux. */
unsigned int kernel_uml_cpus(void);

/*
 * Returns the directory with the kernel and tense.ko. Builds them first if they do
 * not exist, and shows a progress bar on a terminal, lines elsewhere. Ends the
 * program on failure.
 */
char *kernel_build(const char *arch);

/* Does kernel_build() return a directory that kernel_use() was given? */
bool kernel_is_given(void);

/*
 * From here on, kernel_build() returns this directory: another tense built it, or the
 * user chose it. Ends the program if its version is not known.
 */
void kernel_use(const char *directory);

/*
 * The value of --kernel: a version, as for kernel_choose(), or the path of a directory, as
 * for kernel_use(). A path has a slash. Ends the program if there is no such kernel.
 */
void kernel_choose_or_use(const char *text);

/* Where it would be, or NULL when that cannot be told. */
char *kernel_directory(const char *arch);

/* Lists what is missing for a build, in lines; NULL: nothing. */
char *kernel_missing(const char *arch);

#endif
