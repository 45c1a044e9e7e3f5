/* SPDX-License-Identifier: GPL-2.0 */
/* Holds the next event: for each of so many things at most one time. */
#ifndef ORACLE_AGENDA_H
#define ORACLE_AGENDA_H

#include "../model.h"

#define AGENDA_NEVER	(~(fixed_t)0)

struct agenda_entry {
	fixed_t at;
	uint64_t order;		/* first come first served among equals */
};

struct agenda {
	struct agenda_entry *entry;	/* a tournament; leaves from size on */
	unsigned int size;
	uint64_t order;
};

void agenda_init(struct agenda *a, unsigned int things);
void agenda_free(struct agenda *a);
void agenda_set(struct agenda *a, unsigned int thing, fixed_t at);

/* Returns false if nothing comes. */
bool agenda_first(const struct agenda *a, unsigned int *thing, fixed_t *at);

#endif
