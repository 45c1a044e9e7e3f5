/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_TIME_UNIT_H
#define TOOLS_TIME_UNIT_H

#include <stdbool.h>

/* Names the unit of a run's times: deterministic runs count instructions. */
const char *time_unit(bool deterministic);

#endif
