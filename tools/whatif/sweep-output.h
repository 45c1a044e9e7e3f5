/* SPDX-License-Identifier: GPL-2.0 */
/* The answers of a sweep, for readers and for programs. */
#ifndef TOOLS_WHATIF_SWEEP_OUTPUT_H
#define TOOLS_WHATIF_SWEEP_OUTPUT_H

#include <stdio.h>

#include "sweep.h"

#define SWEEP_SCHEMA		"tense-whatif-sweep"
#define SWEEP_JSON_VERSION	1

/* stats: also the table of each answer, with what was scaled and how. */
void sweep_table(FILE *f, const struct sweep *s, bool colour, bool stats);

/* The lines of the CSV of each answer, with the number of CPUs first. */
int sweep_csv(FILE *f, const struct sweep *s);	/* 0, or -1 with errno */

/* The documents of all answers in one. 0, or -1 with errno. */
int sweep_json_write(FILE *f, const struct sweep *s);

/* A picture of the gains over the number of CPUs. 0, or -1 with errno. */
int sweep_svg(FILE *f, const struct sweep *s);

/*
 * Reads a document of sweep_json_write(), or of whatif_json_write(): the sweep then has
 * no numbers of CPUs, and one answer. Returns NULL, or an error, which the caller frees.
 */
char *sweep_json_read(FILE *f, struct sweep *s);

/* Reads the file at path. Ends the program if it cannot. */
void sweep_json_load(struct sweep *s, const char *path);

/* Each text below belongs to the caller, who frees it. */

/* "libz:deflate: 20 % faster" */
char *sweep_variant_words(const struct sweep *s, size_t condition);

/* "libz:deflate: 20 % faster gains 16.0 % on 1 CPU, 15.1 % on 2" */
char *sweep_sentence(const struct sweep *s, size_t condition);

#endif
