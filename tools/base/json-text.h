/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_JSON_TEXT_H
#define TOOLS_JSON_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

/* Arguments and names are bytes; invalid UTF-8 becomes U+FFFD. */
json_t *json_text(const char *bytes, size_t len);

/*
 * Writes and releases a document. If root is NULL, which json_pack() returns on
 * an error, it prints a message. Returns 0, or -1 with errno.
 */
int json_write(FILE *f, json_t *root);

/* Does the same on standard output. Returns 0, or -1 after a message. */
int json_print(json_t *root);

#endif
