/* SPDX-License-Identifier: GPL-2.0 */
/* Names that are near to one that was mistyped. */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#define NEAREST_FAR	1000	/* at least: not near at all */

/* The distance, in tenths of letters that differ. */
unsigned nearest_distance(const char *wanted, const char *name);

/* Returns the one of two names that is nearer; NULL is none, as is one that is not near. */
const char *nearest_of(const char *wanted, const char *best, const char *name);

#endif
