/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_PROFILE_JSON_H
#define TOOLS_PROFILE_JSON_H

#include <stdio.h>

#include "profile.h"

#define PROFILE_SCHEMA		"tense-profile"
#define PROFILE_JSON_VERSION	1

/*
 * Writes all that was asked, measured and concluded. Without samples it is the request
 * to a guest. Returns 0, or -1 with errno.
 */
int profile_json_write(FILE *f, const struct profile *p);

/*
 * Reads all but the conclusion. Returns NULL, or a description of the error, which
 * the caller frees.
 */
char *profile_json_read(FILE *f, struct profile *p);

/* Reads the file at path and draws the conclusion. Ends the program if it cannot. */
void profile_json_load(struct profile *p, const char *path);

#endif
