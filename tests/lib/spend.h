/* SPDX-License-Identifier: GPL-2.0 */
/* Charges a stretch segment by segment, which the module sums up by percent. */
#ifndef TESTS_SPEND_H
#define TESTS_SPEND_H

#include "module/vclock.h"

/* As vclock_spend_ticks(), for the part of the stretch up to counter value @until. */
static inline u64 vclock_spend(struct vclock_task *t, struct vclock_stretch *s,
			       u64 until, u64 own)
{
	u64 ticks = vclock_pass_ticks(s, until);

	return vclock_spend_ticks(t, s, s->from == s->to ? VCLOCK_REST : ticks,
				  own);
}

#endif
