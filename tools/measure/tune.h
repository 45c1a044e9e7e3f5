/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine made quiet for measurements, and put back as it was found: also by a
 * later process, if this one is killed.
 */
#ifndef MEASURE_TUNE_H
#define MEASURE_TUNE_H

#include "daemon-list.h"
#include "journal.h"

/*
 * The machine that is tuned: where its /sys and /proc are ("" for those of this
 * one), its systemctl, and the directory of its journal.
 */
struct machine {
	const char *root;
	const char *systemctl;
	const char *state;
};

/* This machine, or the one that the environment describes. */
struct machine machine_here(void);

/*
 * Undoes the changes that another process left. Then starts time
 * synchronisation, stops the daemons of the list that run, and switches turbo and
 * frequency scaling off. Changes nothing if the list is strict and names a daemon
 * that does not exist. Warns of settings that it cannot change, and goes on. The
 * caller blocks the signals that end tense: once one is pending, nothing more is
 * changed. 0, or -1 after a message if the machine is not to be touched.
 */
int tune_begin(const struct machine *machine,
	       const struct daemon_list *daemons);

/* Changes that were begun, for as long as the process lives. */
const struct changes *tune_changes(void);

/*
 * Puts everything back; also at exit(). 0, or -1 after a message if something is
 * left, which tune_restore() can try again.
 */
int tune_end(void);

/*
 * Undoes the changes that another process left, and prints them. 0, or -1 after
 * a message.
 */
int tune_restore(const struct machine *machine);

#endif
