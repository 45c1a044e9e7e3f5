// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stack.h"

void tense_stack_base(struct tense_stack *s, unsigned int percent)
{
	s->level[0] = percent * TENSE_STACK_ONE;
	s->depth = 0;
	s->based = true;
}
