// SPDX-License-Identifier: GPL-2.0
#include "nearest.h"

#include <ctype.h>
#include <string.h>

#define LENGTH_MAX	64	/* compares this much of longer names */

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Another letter, or the same in the other case. */
static unsigned replacement(char a, char b)
{
	return a == b ? 0 : tolower((unsigned char)a) ==
			    tolower((unsigned char)b) ? 1 : 10;
}

/*
 * A letter too few, too many, another, in the other case, or two the wrong way
 * round: in tenths.
 */
static unsigned edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned rows[3][LENGTH_MAX + 1];

	for (size_t i = 0; i <= la; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const unsigned *before = rows[(i + 1) % 3];

		for (size_t j = 0; j <= lb; j++) {
			if (!i || !j) {
				row[j] = 10 * (i + j);
				continue;
			}
			row[j] = smaller(above[j], row[j - 1]) + 10;
			row[j] = smaller(row[j], above[j - 1] +
					 replacement(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = smaller(row[j], before[j - 2] + 10);
		}
	}
	return rows[la % 3][lb];
}

unsigned nearest_distance(const char *wanted, const char *name)
{
	size_t lw = strnlen(wanted, LENGTH_MAX), ln = strnlen(name, LENGTH_MAX);
	unsigned result, limit = lw < 6 ? 10 : 10 * (lw / 3);

	/* A name that contains the wanted one is near: shorter is nearer. */
	if (lw > 2 && ln > lw && strcasestr(name, wanted))
		return 5 + smaller(ln - lw, 30);
	if ((ln > lw ? ln - lw : lw - ln) * 10 > limit)
		return NEAREST_FAR;
	result = edit_distance(wanted, lw, name, ln);
	return result <= limit && result < 10 * lw ? result : NEAREST_FAR;
}

const char *nearest_of(const char *wanted, const char *best, const char *name)
{
	unsigned limit = best ? nearest_distance(wanted, best) : NEAREST_FAR;

	return nearest_distance(wanted, name) < limit ? name : best;
}
