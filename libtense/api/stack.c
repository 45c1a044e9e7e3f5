// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "stack.h"

#define MIN (TENSE_SCALE_MIN * TENSE_STACK_ONE)
#define MAX (TENSE_SCALE_MAX * TENSE_STACK_ONE)

_Static_assert(TENSE_SCALE_MAX <= UINT64_MAX / 100 / TENSE_STACK_ONE,
	       "MAX * 100 fits");

void tense_stack_base(struct tense_stack *s, unsigned int percent)
{
	s->level[0] = percent * TENSE_STACK_ONE;
	s->depth = 0;
	s->based = true;
}

int tense_stack_product(const struct tense_stack *s, int percent,
			uint64_t *product)
{
	uint64_t top = s->level[s->depth], p;

	if (percent < TENSE_SCALE_MIN || percent > TENSE_SCALE_MAX)
		return -EINVAL;
	if (s->depth == TENSE_SCALE_DEPTH)
		return -ENOSPC;
	if (top > MAX * 100 / (unsigned int)percent)
		return -ERANGE;
	/* top * percent / 100 to nearest, in parts that cannot overflow */
	p = top / 100 * (unsigned int)percent +
	    (top % 100 * (unsigned int)percent + 50) / 100;
	if (p < MIN || p > MAX)
		return -ERANGE;
	*product = p;
	return 0;
}
