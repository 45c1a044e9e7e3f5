// SPDX-License-Identifier: GPL-2.0
#include "circumstances.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/util.h"
#include "environment.h"

const char *machine_fact_name(int fact)
{
	static const char *const names[] = {
		[MACHINE_HOST] = "host", [MACHINE_KERNEL] = "kernel",
		[MACHINE_CPU] = "cpu", [MACHINE_CPUS] = "cpus",
	};

	return names[fact];
}

void circumstances_read(struct circumstances *c)
{
	struct environment e;
	struct utsname name;

	*c = (struct circumstances){ .when = time(NULL) };
	uname(&name);
	environment_read(&e, "");
	c->machine[MACHINE_HOST] = xstrdup(name.nodename);
	for (int i = MACHINE_KERNEL; i < NR_MACHINE; i++)
		c->machine[i] = xstrdup(environment_value(&e,
						machine_fact_name(i)));
	environment_free(&e);
}

void circumstances_free(struct circumstances *c)
{
	for (int i = 0; i < NR_MACHINE; i++)
		free(c->machine[i]);
	free(c->degraded);
	*c = (struct circumstances){ 0 };
}
