// SPDX-License-Identifier: GPL-2.0
#include "compensation.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/util.h"
#include "libtense/measure/counter.h"
#include "libtense/measure/ticks.h"
#include "settings.h"

/* Whether some CPUs have no ticks while only one task runs there. */
static bool has_tickless_cpus(const char *root)
{
	char *path = xprintf("%s/sys/devices/system/cpu/nohz_full", root);
	char *list = setting_read(path);
	bool has = list && *list >= '0' && *list <= '9';

	free(list);
	free(path);
	return has;
}

int compensation_begin(struct compensation *c, const char *root,
		       const char **why)
{
	struct counter counter;
	cpu_set_t set;

	*c = (struct compensation){ 0 };
	if (has_tickless_cpus(root)) {
		*why = "some CPUs have no timer interrupts while one task runs there (nohz_full)";
		return -1;
	}
	counter_take_cycles(&counter);
	c->cost = ticks_cost(&counter) / 1e9;
	if (c->cost <= 0) {
		*why = "the cost of a timer interrupt cannot be measured here and now";
		return -1;
	}
	c->tick = ticks_interval_ns() / 1e9;
	c->cpus = sched_getaffinity(0, sizeof(set), &set) ? CPU_SETSIZE :
		  (unsigned int)CPU_COUNT(&set);
	return 0;
}

unsigned int compensation_ticks(const struct compensation *c, double elapsed,
				double process)
{
	double busy = c->cpus ? fmin(process / c->cpus, elapsed) : 0;

	return c->tick > 0 ? (unsigned int)floor(busy / c->tick) : 0;
}
