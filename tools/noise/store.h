/* SPDX-License-Identifier: GPL-2.0 */
/* Coefficients in a file, of each machine. */
#ifndef NOISE_STORE_H
#define NOISE_STORE_H

#include <stdbool.h>

#include "evaluate.h"
#include "model.h"
#include "report.h"

/* The content of a file. Older files have the form log only. */
struct stored {
	struct coefficients of[NR_FORMS];
	bool has[NR_FORMS];
	enum form better;
	struct evaluation evaluations[NR_FORMS];	/* not read */
};

/*
 * noise-MACHINE.json in the user's directory of data, so that a home directory
 * that machines share has one of each. The caller frees it.
 */
char *store_default_path(void);

/* 0, or -1 after a message. */
int store_load(struct stored *s, const char *path);

/*
 * Make the directories that lead to the file. Return 0, or -1 after a message.
 * store_try_save() only checks that the user may write the file.
 */
int store_try_save(const char *path);
int store_save(const struct stored *s, const struct cell *cells,
	       const struct report *reports, size_t count, const char *path);

#endif
