/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands that run another command have in common. */
#ifndef TOOLS_SETUP_H
#define TOOLS_SETUP_H

#include "backend.h"

/* False if there is none by that name; NULL for "auto". */
bool backend_find(const char *name, const struct backend **backend);
/* The first that can be used; ends the program if there is none. */
const struct backend *backend_choose(void);

/* The real path of a directory, which must be one. */
char *setup_directory(const char *text);

/*
 * What the command may write to: these n, in a list that has room for two
 * more, and the current directory.
 */
void setup_writable(struct run *run, char **dirs, size_t n);

/* How the caller left the process, before anything is changed. */
void setup_caller(struct run *run);

/* The exit status, with a message where the command did not run. */
int setup_status(const struct outcome *out, char **argv);

#endif
