/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Something else on the machine may make a run much worse than the others of its row. Such an
 * outlier says nothing of the program, and would make every interval wide.
 */
#ifndef TOOLS_PROFILE_OUTLIERS_H
#define TOOLS_PROFILE_OUTLIERS_H

#include "race-data.h"

/* Finds outliers, and says of each row how many runs are left out and whether it is odd. */
void race_find_outliers(struct race *race);

#endif
