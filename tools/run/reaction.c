// SPDX-License-Identifier: GPL-2.0
#include "reaction.h"

/* A running tense checks at least this often. */
#define STEP_NS		1000000000ULL

bool reaction_is_awaited(const struct reaction *r)
{
	/* Both counters may wrap. */
	return r->sig && (int32_t)(r->ending - r->taken) > 0;
}

void reaction_check(struct reaction *r, uint64_t now)
{
	uint64_t passed = now - r->checked;

	r->checked = now;
	if (reaction_is_awaited(r))
		r->waited += passed > STEP_NS ? STEP_NS : passed;
}

bool reaction_sends(struct reaction *r, int sig, bool ends)
{
	bool again = reaction_is_awaited(r);

	if (ends && again && r->waited >= REACTION_AGAIN_NS)
		return false;
	r->sent++;
	if (!ends)
		return true;
	r->ending = r->sent;
	if (!again) {
		r->sig = sig;
		r->waited = 0;
	}
	return true;
}

void reaction_takes(struct reaction *r)
{
	if (r->taken != r->sent)
		r->taken++;
	r->waited = 0;
	if (!reaction_is_awaited(r))
		r->sig = 0;
}

bool reaction_has_failed(const struct reaction *r)
{
	return reaction_is_awaited(r) && r->waited >= REACTION_NS;
}

int reaction_timeout_ms(const struct reaction *r)
{
	uint64_t left = r->waited < REACTION_NS ? REACTION_NS - r->waited : 0;

	if (!reaction_is_awaited(r))
		return -1;
	if (left > STEP_NS)
		left = STEP_NS;
	return (int)((left + 999999) / 1000000);
}
