/* SPDX-License-Identifier: GPL-2.0 */
/* Units of systemd, by systemctl. */
#ifndef MEASURE_UNITS_H
#define MEASURE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

struct unit_state {
	char *name;		/* its own, where it was asked for by another */
	bool loaded;		/* there, and can be started */
	bool active;
};

struct unit_states {
	struct unit_state *list;
	size_t count;
};

/*
 * systemctl is the command, found as execvp() does; names ends with NULL. 0, or
 * -1 and *why, which the caller frees.
 */
int units_look(const char *systemctl, const char *const *names,
	       struct unit_states *states, char **why);
void units_free(struct unit_states *states);

/* Starts or stops one, and waits until that is done. The same. */
int unit_set(const char *systemctl, const char *name, bool active,
	     char **why);

#endif
