/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_JSON_TEXT_H
#define TOOLS_JSON_TEXT_H

#include <stddef.h>

#include <jansson.h>

/* Arguments and names are bytes; invalid UTF-8 becomes U+FFFD. */
json_t *json_text(const char *bytes, size_t len);

#endif
