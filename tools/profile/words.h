/* SPDX-License-Identifier: GPL-2.0 */
/* Words that table, page and JSON of a profile have in common. */
#ifndef TOOLS_PROFILE_WORDS_H
#define TOOLS_PROFILE_WORDS_H

#include "profile.h"

/* Identifiers in JSON and CSV. Raise PROFILE_JSON_VERSION if one changes. */
const char *profile_why_id(enum profile_why why);
const char *profile_state_id(enum profile_state state);
const char *profile_cut_name(enum profile_cut cut);

/* Why the function of a row gains so much, or why it did not run. */
const char *profile_why_text(const struct profile *p,
			     const struct profile_row *row);

/* One sentence: where to begin. The caller frees it. */
char *profile_advice(const struct profile *p);

/*
 * Returns a gain for readers, or a NAN if it is doubtful: a disturbed run would give a number
 * that looks as certain as the others.
 */
const struct interval *profile_shown_gain(const struct profile_row *row, enum profile_cut cut);

/*
 * Do the tables show this row? They leave out functions that are never called, and
 * untried ones whose share is not known.
 */
bool profile_is_shown(const struct profile *p, const struct profile_row *row);

/*
 * Returns sentences with the --time in which every function runs, and with first_ns,
 * which is 0 or the time that one function needs. The caller frees it.
 */
char *profile_needed(const struct profile *p, uint64_t first_ns);

/*
 * Which functions and runs are not in the answer, and why, and whether instruments change
 * the program, in sentences. NULL if there are none. The caller frees it.
 */
char *profile_left_out(const struct profile *p);

/* How far the intervals of the answer can be trusted, in a sentence. */
const char *profile_certainty(const struct profile *p);

/*
 * How many functions that the survey saw cannot be scaled, and why, in a sentence. NULL
 * if there are none. The caller frees it.
 */
char *profile_unscalable(const struct profile *p);

/* How the race ended, in a sentence. The caller frees it. */
char *profile_ending(const struct profile *p);

#endif
