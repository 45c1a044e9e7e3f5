/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_TIME_UNIT_H
#define TOOLS_TIME_UNIT_H

/* Names for readers the unit of deterministic runs, which count instructions. */
const char *time_unit_text(void);

#endif
