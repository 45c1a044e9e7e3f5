/* SPDX-License-Identifier: GPL-2.0 */
/* The machine, or the guest, on which a command runs: a result holds for it alone. */
#ifndef TOOLS_BASE_MACHINE_H
#define TOOLS_BASE_MACHINE_H

#include <sys/utsname.h>

#include <jansson.h>

struct machine {
	unsigned int cpus;
	char release[sizeof(((struct utsname *)0)->release)];	/* of Linux; or "" */
};

/* Counts the CPUs that this process may run on. */
unsigned int machine_cpus(void);

/*
 * Returns the name of the fair scheduler in a release of Linux, such as "7.2.13": EEVDF
 * replaced CFS in 6.6. Returns NULL for a text that is no release.
 */
const char *scheduler_name(const char *release);

/* Returns "2 CPUs", which the caller frees. */
char *cpus_text(unsigned int cpus);

/* Returns "2 CPUs, Linux 7.2.13 (EEVDF)", which the caller frees; without a release "2 CPUs". */
char *machine_text(const struct machine *m);

/* Returns an object with cpus, kernel_version, such as "7.2", and scheduler. */
json_t *machine_json(const struct machine *m);

#endif
