// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "resolve.h"
#include "util.h"
#include "whatif.h"

/* An environment has no room for more; the name then stands for itself. */
#define SPECS_MAX	100

static char *join(const struct tense_resolution *r)
{
	char *lines = NULL, *longer;

	if (r->count > SPECS_MAX)
		return NULL;
	for (size_t i = 0; i < r->count; i++) {
		longer = xprintf("%s%s%s", lines ? lines : "",
				 lines ? "\n" : "", r->candidates[i].spec);
		free(lines);
		lines = longer;
	}
	return lines;
}

static bool find(struct whatif *w, unsigned int slot)
{
	struct tense_resolution r;
	bool found;

	found = tense_resolve(whatif_slot_name(w, slot), w->argv, &r) ==
		TENSE_RESOLVED;
	if (r.message)
		warn("%s", r.message);
	if (found)
		w->specs[slot] = join(&r);
	tense_resolution_free(&r);
	return found;
}

void whatif_names(struct whatif *w)
{
	bool all = true;

	for (unsigned int slot = 1; slot < WHATIF_SLOTS; slot++)
		if (*whatif_slot_name(w, slot))
			all = find(w, slot) && all;
	if (!all)
		exit(STATUS_FAILED);
}
