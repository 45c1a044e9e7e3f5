/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels that tense builds for its guests; see the script kernel-build. */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include <stdbool.h>

/*
 * Returns the directory with the kernel and tense.ko. Builds them first if they do
 * not exist, and shows a progress bar on a terminal, lines elsewhere. Ends the
 * program on failure.
 */
char *kernel_build(const char *arch);

/* Where it would be, or NULL when that cannot be told. */
char *kernel_directory(const char *arch);

/* Lists what is missing for a build, in lines; NULL: nothing. */
char *kernel_missing(const char *arch);

#endif
