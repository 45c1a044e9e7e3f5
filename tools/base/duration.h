/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MEASURE_DURATION_H
#define MEASURE_DURATION_H

/*
 * A time with its unit (ns, us, ms, s, m or min, h, d), in seconds; without a
 * unit it is in seconds. 0, or -EINVAL if it is something else or negative.
 */
int parse_duration(const char *text, double *seconds);

#endif
