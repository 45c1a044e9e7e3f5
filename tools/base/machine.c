// SPDX-License-Identifier: GPL-2.0
#include "machine.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util.h"

unsigned int machine_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&set);
}

static bool parse(const char *release, unsigned int *major, unsigned int *minor)
{
	return sscanf(release, "%u.%u", major, minor) == 2;
}

const char *scheduler_name(const char *release)
{
	unsigned int major, minor;

	if (!parse(release, &major, &minor))
		return NULL;
	return major > 6 || (major == 6 && minor >= 6) ? "EEVDF" : "CFS";
}

char *cpus_text(unsigned int cpus)
{
	return xprintf("%u CPU%s", cpus, cpus == 1 ? "" : "s");
}

char *machine_text(const struct machine *m)
{
	const char *scheduler = scheduler_name(m->release);
	char *cpus = cpus_text(m->cpus), *text;

	if (!scheduler)
		return cpus;
	text = xprintf("%s, Linux %s (%s)", cpus, m->release, scheduler);
	free(cpus);
	return text;
}

json_t *machine_json(const struct machine *m)
{
	unsigned int major, minor;
	char version[24], *known = NULL;

	if (parse(m->release, &major, &minor)) {
		snprintf(version, sizeof(version), "%u.%u", major, minor);
		known = version;
	}
	return json_pack("{si ss? ss?}", "cpus", (int)m->cpus, "kernel_version", known,
			 "scheduler", scheduler_name(m->release));
}
