/* SPDX-License-Identifier: GPL-2.0 */
/* The part of a run's CPU time in a member of a group, and how it differs between runs. */
#ifndef TOOLS_PROFILE_PARTS_H
#define TOOLS_PROFILE_PARTS_H

#include "profile.h"

/* Returns the mean part in a function and in all that it calls, at most 1. */
double part_inside(const struct profile_group *g, size_t member);

/* Returns the part of the time of another member that passed inside a member. */
double part_nested(const struct profile_group *g, size_t member, size_t other);

/*
 * A cut takes a part of the time that the function took in the same run. This time
 * differs from run to run, and null runs do not show it. Once the race has gains, this
 * moves y of each run with a cut to where it would be if the function had its mean part
 * of the time, and sets the errors that are left. Only for programs of one thread.
 * Returns whether anything has changed.
 */
bool part_follow(struct race *race, const struct profile *p);

#endif
