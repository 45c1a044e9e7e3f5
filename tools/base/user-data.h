/* SPDX-License-Identifier: GPL-2.0 */
/* Files that the user's tense keeps from one use to the next. */
#ifndef TOOLS_USER_DATA_H
#define TOOLS_USER_DATA_H

/* A file in the user's directory of data. The caller frees the path. */
char *user_data_path(const char *name);

/*
 * WHAT-MACHINE.json there, so that a home directory that machines share has one
 * of each. The caller frees the path.
 */
char *machine_data_path(const char *what);

/* The directories that lead to a file. 0, or -1 with errno. */
int make_parents(const char *path);

#endif
