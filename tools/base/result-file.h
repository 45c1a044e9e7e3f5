/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that a command writes its result to. The command checks the path
 * before it measures, and replaces the file when the new content is complete. A
 * run that fails or is interrupted leaves the old file.
 */
#ifndef TOOLS_RESULT_FILE_H
#define TOOLS_RESULT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct result_file {
	const char *name;	/* as the user wrote it; NULL: none is asked for */
	char *target;		/* file to replace; NULL: written directly */
	char *beside;		/* holds the new content of target, or NULL */
	FILE *file;		/* NULL while nothing may be written */
};

/* Does the name, which may be NULL, mean standard output? */
bool result_file_is_stdout(const char *name);

/*
 * Checks that the user may write the file, and leaves it unchanged. Opens a
 * device, a FIFO or standard output at once, to write to it directly. Returns
 * 0, or -1 after a message.
 */
int result_file_check(struct result_file *r, const char *name);

/* Opens the file for its new content. NULL after a message. */
FILE *result_file_begin(struct result_file *r);

/*
 * Replaces the file. Leaves the old one if error, the writer's result, is not 0
 * or if a write failed. If the file cannot be replaced, the new content stays
 * beside it, and the message names it. Returns 0, or -1 after a message.
 */
int result_file_end(struct result_file *r, int error);

/* Drops content that no result_file_end() has completed. */
void result_file_free(struct result_file *r);

/* Do the same for a list of names. Each may be NULL. */
int result_files_check(struct result_file *r, const char *const *names,
		       size_t count);
void result_files_free(struct result_file *r, size_t count);

/*
 * Writes each file of the list that is asked for: write() takes its index, and
 * returns 0, or -1 with errno. A file that fails does not keep the others from
 * being written. Returns 0, or -1 after messages.
 */
int result_files_write(struct result_file *r, size_t count,
		       int (*write)(FILE *f, size_t index, const void *arg),
		       const void *arg);

#endif
