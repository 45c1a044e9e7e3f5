/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of the JSON of tense whatif that the JSON of tense profile has as well. */
#ifndef TOOLS_WHATIF_JSON_PARTS_H
#define TOOLS_WHATIF_JSON_PARTS_H

#include <stdio.h>

#include <jansson.h>

#include "whatif.h"

/* The document of whatif_json_write(). */
json_t *whatif_json(const struct whatif *w);
/* A text that is not UTF-8 becomes {"hex": ...}. NULL becomes null. */
json_t *whatif_json_bytes(const char *value);
json_t *whatif_json_environment(const struct whatif_environment *e);
json_t *whatif_json_samples(const struct whatif_question *q,
			    const struct whatif_samples *samples);
json_t *whatif_json_patches(const struct whatif_samples *samples);
json_t *whatif_json_found(const struct whatif_found *found);
/* Without conditions. Keeps all bytes of its texts. */
json_t *whatif_json_question(const struct whatif_question *q);

/* The reverse. The caller frees the text; NULL if there is none. */
char *whatif_json_copy(const json_t *value);
void whatif_json_load_environment(const json_t *from,
				  struct whatif_environment *e);
/* Checks nothing: the figures may be anything. */
void whatif_json_load_sample(const json_t *from, struct whatif_sample *to);
/* Each returns false if a part is wrong. *to owns all that was read. */
bool whatif_json_load_patches(const json_t *list, struct whatif_samples *to);
bool whatif_json_load_found(const json_t *from, struct whatif_found *to);

/*
 * Loads all but functions and conditions. Returns NULL, or the name of the first
 * wrong part.
 */
const char *whatif_json_load_question(const json_t *root,
				      struct whatif_question *q);

/*
 * Loads an answer from a document of whatif_json_write(), of this version or an
 * earlier one. Returns NULL, or an error, which the caller frees.
 */
char *whatif_json_load_answer(const json_t *root, struct whatif *w);

/*
 * Parses a document. Returns NULL, or an error. The caller frees the error, and releases
 * *root in both cases.
 */
char *whatif_json_parse(FILE *f, json_t **root);

/* Does the document have this schema? */
bool whatif_json_has_schema(const json_t *root, const char *schema);

/*
 * Returns an error, which the caller frees, unless the document is one of tense COMMAND
 * --json whose version is 1 to newest.
 */
char *whatif_json_check(const json_t *root, const char *command, const char *schema,
			uint64_t newest);

/*
 * Reads a document of tense COMMAND --json whose version is 1 to newest. Returns NULL, or
 * an error. The caller frees the error, and releases *root in both cases.
 */
char *whatif_json_open(FILE *f, const char *command, const char *schema,
		       uint64_t newest, json_t **root);

/* Returns an error for a wrong part of it, which the caller frees; NULL for none. */
char *whatif_json_wrong(const char *command, const char *part);

#endif
