/* SPDX-License-Identifier: GPL-2.0 */
/* Names that are near to one that was mistyped. */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX	5

struct nearest {
	const char *wanted;
	size_t count;
	struct {
		size_t item;
		unsigned distance;
	} found[NEAREST_MAX];	/* the nearest first */
};

/* Keeps item if name is among the nearest so far, and near at all. */
void nearest_try(struct nearest *nearest, const char *name, size_t item);

#endif
