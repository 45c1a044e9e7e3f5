// SPDX-License-Identifier: GPL-2.0
#include "cold.h"

#include <sched.h>
#include <stdlib.h>

#include "base/util.h"
#include "libtense/measure/cache.h"

struct cold {
	struct cache cache;
};

struct cold *cold_new(void)
{
	struct cold *cold = xmalloc(sizeof(*cold));

	if (!cache_prepare(&cold->cache))
		return cold;
	free(cold);
	return NULL;
}

void cold_free(struct cold *cold)
{
	if (cold)
		cache_free(&cold->cache);
	free(cold);
}

void cold_empty(struct cold *cold)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all)) {
		cache_flush(&cold->cache);
		return;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!sched_setaffinity(0, sizeof(one), &one))
			cache_flush(&cold->cache);
	}
	sched_setaffinity(0, sizeof(all), &all);
}
