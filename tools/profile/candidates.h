/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the candidates of a profile in the command before it runs. */
#ifndef TOOLS_PROFILE_CANDIDATES_H
#define TOOLS_PROFILE_CANDIDATES_H

#include "profile.h"

struct survey;

/* Which functions the user allows. */
struct profile_filter;

/*
 * Lists are names between commas, each [object:]pattern as of libtense/symbols/spec.h.
 * All may be NULL. Returns NULL, or an error, which the caller frees.
 */
char *profile_filter_create(const char *exclude, const char *object,
			    struct profile_filter **filter);
void profile_filter_free(struct profile_filter *filter);

/*
 * Adds the functions that a list names, those of a pattern one by one. Returns
 * whether all names were found: else it has explained why, with the nearest names.
 */
bool profile_candidates_only(struct profile *p, const char *list,
			     const struct profile_filter *filter,
			     bool is_static);

/*
 * Adds the functions in which a survey found a hundredth of the time or more. It refuses
 * functions that cannot be scaled.
 */
void profile_candidates_survey(struct profile *p, const struct survey *survey,
			       const struct profile_filter *filter,
			       bool is_static);

/*
 * Tells of functions that were not called because the command does not load their file
 * when it starts: which file, and what it loads instead.
 */
void profile_warn_unloaded(const struct profile *p);

#endif
