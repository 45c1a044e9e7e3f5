/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTENSE_REDIRECT_INTERNAL_H
#define LIBTENSE_REDIRECT_INTERNAL_H

#include "host.h"
#include "symbols/spec.h"

struct redirect_specs {
	struct tense_spec *spec;
	size_t count;
};

extern struct redirect_specs redirect_specs;
extern const struct redirect_host *redirect_host;

/* These are parse() and marks() of struct redirect. */
bool redirect_parse(const char *text);
bool redirect_marks(void);

size_t redirect_scan(bool relocated);
const char *redirect_watch(void);

/* A function as the log shows it. */
struct redirect_name {
	const struct tense_spec *spec;	/* the spec that named it */
	const char *object, *symbol;
	uint64_t offset;
};

/*
 * Writes to the file that TENSE_FUNCTIONS_LOG names. reason: NULL if it was
 * redirected.
 */
void redirect_log(const struct redirect_name *name, const char *reason);
void redirect_log_cost(double ns, unsigned int ticks);
/* Real time of the search for functions, which was not charged. */
void redirect_log_start(uint64_t ns);

#endif
