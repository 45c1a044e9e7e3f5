// SPDX-License-Identifier: GPL-2.0
#include "nearest.h"

#include <ctype.h>
#include <string.h>

#define LENGTH_MAX	64	/* of longer names only the start counts */

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* A letter too few, too many, another or in the other case: in tenths. */
static unsigned edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned row[LENGTH_MAX + 1], above, left, cost;

	for (size_t j = 0; j <= lb; j++)
		row[j] = 10 * j;
	for (size_t i = 1; i <= la; i++) {
		above = row[0];
		row[0] = 10 * i;
		for (size_t j = 1; j <= lb; j++) {
			cost = a[i - 1] == b[j - 1] ? 0 :
			       tolower((unsigned char)a[i - 1]) ==
			       tolower((unsigned char)b[j - 1]) ? 1 : 10;
			left = smaller(row[j], row[j - 1]) + 10;
			cost = smaller(above + cost, left);
			above = row[j];
			row[j] = cost;
		}
	}
	return row[lb];
}

unsigned nearest_distance(const char *wanted, const char *name)
{
	size_t lw = strnlen(wanted, LENGTH_MAX), ln = strnlen(name, LENGTH_MAX);
	unsigned result, limit = lw < 6 ? 10 : 10 * (lw / 3);

	/* What has it in it is near, the more so the less there is else. */
	if (lw > 2 && ln > lw && strcasestr(name, wanted))
		return 5 + smaller(ln - lw, 30);
	if ((ln > lw ? ln - lw : lw - ln) * 10 > limit)
		return NEAREST_FAR;
	result = edit_distance(wanted, lw, name, ln);
	return result <= limit && result < 10 * lw ? result : NEAREST_FAR;
}
