/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The directory of a batch, on a file system that this machine and all nodes share. It
 * has "command", a script that a node runs with the name of a directory for its files,
 * and then "result", that directory when the script has ended well.
 */
#ifndef TOOLS_BATCH_H
#define TOOLS_BATCH_H

#include <stdbool.h>
#include <stdio.h>

/* Each of these ends the program if it fails. */

/* The script gets its name when it is complete, by batch_script_end(). */
FILE *batch_script_begin(const char *directory);
void batch_script_end(FILE *script, const char *directory);

/* Writes a word so that a shell reads it as one. */
void batch_write_word(FILE *script, const char *word);

/* Has the script ended well? */
bool batch_is_done(const char *directory);

/* Copies a file of the result to a descriptor. */
void batch_copy_result(const char *directory, const char *name, int to);

/*
 * Copies a file or directory to DIRECTORY/NAME, unless it is there. Returns the path of
 * the copy, which the caller frees.
 */
char *batch_share(const char *path, const char *directory, const char *name);

#endif
