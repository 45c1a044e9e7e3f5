/* SPDX-License-Identifier: GPL-2.0 */
/* Measures a profile: on this kernel, or in a guest. */
#ifndef TOOLS_PROFILE_NATIVE_H
#define TOOLS_PROFILE_NATIVE_H

#include "profile.h"
#include "whatif/guest.h"

/*
 * Each returns 0 with the answer in *p, or the status to end with after a message.
 * inside: this process runs in a guest.
 */
int profile_native_measure(struct profile *p, const struct run *run,
			   bool inside);
int profile_guest_measure(struct profile *p, const struct whatif_guest *g);

/* In one of several guests: makes the runs of p->batch. */
int profile_batch_measure(struct profile *p, const struct run *run);

/* In the guest: reads the request. Ends the program if it is wrong. */
void profile_guest_receive(struct profile *p);

#endif
