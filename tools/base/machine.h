/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_BASE_MACHINE_H
#define TOOLS_BASE_MACHINE_H

/* Counts the CPUs that this process may run on. */
unsigned int machine_cpus(void);

/*
 * Returns the name of the fair scheduler in a release of Linux, such as "7.2.13": EEVDF
 * replaced CFS in 6.6. Returns NULL for a text that is no release.
 */
const char *scheduler_name(const char *release);

/*
 * Returns "2 CPUs, Linux 7.2.13 (EEVDF)", which the caller frees. A text that is no
 * release is left out.
 */
char *machine_text(unsigned int cpus, const char *release);

#endif
