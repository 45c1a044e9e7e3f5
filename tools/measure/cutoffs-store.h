/* SPDX-License-Identifier: GPL-2.0 */
/* Cutoffs in a file: what `tense daemons` stores or prints, CSV or JSON. */
#ifndef MEASURE_CUTOFFS_STORE_H
#define MEASURE_CUTOFFS_STORE_H

#include <jansson.h>

#include "cutoffs.h"

struct cutoff_store {
	char *path;		/* NULL: there is none */
	struct cutoffs cutoffs;
};

/* 0, or -1 after a message. */
int cutoffs_load(struct cutoff_store *store, const char *path);

/*
 * The user's own file for this machine, whose home other machines may have too,
 * or that for all of them, if one is there. 0, or -1 after a message.
 */
int cutoffs_load_default(struct cutoff_store *store);

/* The path of the one for this machine, which the caller frees. */
char *cutoffs_machine_path(void);

/*
 * Writes a file as a whole or not at all, and the directories that it is in. 0,
 * or -1 after a message.
 */
int cutoffs_save(json_t *root, const char *path);

/* Makes the directories and writes nothing. 0, or -1 after a message. */
int cutoffs_try_save(const char *path);
void cutoffs_unload(struct cutoff_store *store);

/* In ms, for a task that takes so many seconds; NAN if there is none. */
double cutoff_for(const struct cutoff_store *store, const char *daemon,
		  double seconds);

#endif
