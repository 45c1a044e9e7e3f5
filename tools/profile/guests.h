/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a profile's race here, and its runs in several guests at the same time. Each
 * stage of the race boots the guests anew and divides its runs among them. If they count
 * instructions, the answer depends neither on how many guests run at the same time nor on
 * where.
 */
#ifndef TOOLS_PROFILE_GUESTS_H
#define TOOLS_PROFILE_GUESTS_H

#include "profile.h"
#include "whatif/guest.h"

/* Returns 0 with the answer in *p, or the status to end with after a message. */
int profile_guests_measure(struct profile *p, const struct whatif_guest *g,
			   unsigned int guests);

/* Says so if the status of a guest is that of a signal that does not come from the user. */
void profile_guests_tell_killed(int status);

#endif
