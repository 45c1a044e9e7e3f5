/* SPDX-License-Identifier: GPL-2.0 */
/* When and where something was learnt. */
#ifndef MEASURE_CIRCUMSTANCES_H
#define MEASURE_CIRCUMSTANCES_H

#include <time.h>

enum { MACHINE_HOST, MACHINE_KERNEL, MACHINE_CPU, MACHINE_CPUS, NR_MACHINE };

struct circumstances {
	time_t when;
	char *machine[NR_MACHINE];
	char *degraded;		/* facts that are unknown, and why; or NULL */
};

const char *machine_fact_name(int fact);

/* Here and now. */
void circumstances_read(struct circumstances *c);
void circumstances_free(struct circumstances *c);

#endif
