/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where tense finds its parts: next to the directory of its executable, in
 * the build directory as in an installation.
 */
#ifndef TOOLS_PATHS_H
#define TOOLS_PATHS_H

#define PATH_GUEST_INIT		"libexec/tense/guest-init"
#define PATH_COUNT		"libexec/tense/count"
#define PATH_TENSE		"bin/tense"
#define PATH_LIBTENSE		"lib/libtense.so.1"
#define PATH_LIBTENSE_FUNCTIONS	"lib/libtense-functions.so"
/* Which the one above opens. */
#define PATH_LIBTENSE_REDIRECT	"lib/libtense-redirect.so.0"
#define PATH_KERNEL_BUILD	"share/tense/tools/kernel-build"
#define PATH_KERNEL_SOURCE	"share/tense/tools/kernel-source"
#define PATH_DAEMONS		"share/tense/tools/measure/daemons.csv"
#define PATH_QEMU_TURNS		"libexec/tense/tense-turns.so"
#define PATH_QEMU_FETCH		"share/tense/tools/fetch/qemu-fetch"

/* The absolute path, which the caller frees. */
char *find_part(const char *path);

/* The directory for temporary files. */
const char *find_temporary(void);

/* Returns the environment with libtense.so in front of LD_PRELOAD, for a command. */
char **preload_environment(void);

/* The argument may be environ. */
void preload_environment_free(char **env);

/* The part of a path after its last slash. */
const char *base_name(const char *path);

#endif
