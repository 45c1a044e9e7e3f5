/* SPDX-License-Identifier: GPL-2.0 */
/* Lists of daemons that may be stopped during a measurement, as units of systemd. */
#ifndef MEASURE_DAEMON_LIST_H
#define MEASURE_DAEMON_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A daemon has a unit for each name that a distribution gives it. */
struct daemon_unit {
	char *daemon;
	char *unit;
	unsigned int line;	/* of the file, where the daemon is first named */
};

struct daemon_list {
	struct daemon_unit *list;
	size_t count;
	char *path;
	bool strict;		/* each daemon has to exist */
};

/*
 * Reads a list. NULL reads the one that belongs to Tense, which names daemons of
 * several distributions: it is not strict. 0, or -1 after a message.
 */
int daemon_list_read(struct daemon_list *list, const char *path);
void daemon_list_free(struct daemon_list *list);

/* The names of all units, ending with NULL. The caller frees the array alone. */
const char **daemon_list_units(const struct daemon_list *list);

/*
 * Checks that a strict list names only what exists: of each daemon, systemctl
 * has to know a unit. 0, or -1 after a message.
 */
int daemon_list_check(const struct daemon_list *list, const char *systemctl);

#endif
