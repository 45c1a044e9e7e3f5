// SPDX-License-Identifier: GPL-2.0
#include "machine.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "util.h"

unsigned int machine_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&set);
}

const char *scheduler_name(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return NULL;
	return major > 6 || (major == 6 && minor >= 6) ? "EEVDF" : "CFS";
}

char *machine_text(unsigned int cpus, const char *release)
{
	const char *scheduler = scheduler_name(release);
	const char *s = cpus == 1 ? "" : "s";

	if (!scheduler)
		return xprintf("%u CPU%s", cpus, s);
	return xprintf("%u CPU%s, Linux %s (%s)", cpus, s, release, scheduler);
}
