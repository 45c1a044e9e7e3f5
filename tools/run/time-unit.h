/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_TIME_UNIT_H
#define TOOLS_TIME_UNIT_H

#include <stdbool.h>

/* What a nanosecond of a run really is, by whether it was deterministic. */
const char *time_unit(bool deterministic);

#endif
