/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the protocol that fits a command's length and the load of the machine. */
#ifndef MEASURE_PROTOCOL_H
#define MEASURE_PROTOCOL_H

#include <stdbool.h>

#include "measure.h"

/* The name that --protocol takes, and JSON has. */
const char *protocol_name(enum protocol protocol);

/*
 * True if the load of the last minute leaves less than half of a CPU. False if
 * the machine does not tell its load.
 */
bool protocol_is_loaded(const struct environment *e);

/* The protocol for a command that takes so many seconds. */
enum protocol protocol_for(double seconds, bool loaded);

/* The reason for another protocol, which fits better. */
struct protocol_advice {
	const char *id;		/* stable, or NULL: none fits better */
	enum protocol protocol;
	double seconds;		/* the length of the command */
};

/* Judges a complete measurement. With --compare no other protocol can fit better. */
struct protocol_advice protocol_advise(const struct measurement *m);

/* The same as a sentence, which the caller frees. */
char *protocol_advice_text(const struct protocol_advice *advice);

#endif
