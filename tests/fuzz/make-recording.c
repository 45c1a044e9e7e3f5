// SPDX-License-Identifier: GPL-2.0
/*
 * Writes what fuzz-recording takes: the pages of a few threads on two CPUs, of
 * which some events were lost.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fake-recording.h"
#include "fake-story.h"

enum { CPUS = 2, THREADS = 3, STEPS = 60, SEED = 1 };

static void add_cpu(struct fake_recording *r, const struct trace *t,
		    uint16_t cpu)
{
	struct event *events = calloc(t->count, sizeof(*events));
	size_t n = 0;

	if (!events)
		exit(1);
	for (size_t i = 0; i < t->count; i++)
		if (t->events[i].cpu == cpu)
			events[n++] = t->events[i];
	if (cpu)
		fake_missed(r, cpu, events, n);
	else
		fake_pages(r, cpu, events, n);
	free(events);
}

int main(void)
{
	struct fake_recording r = { 0 };
	struct story s;

	story_random(&s, CPUS, THREADS, STEPS, SEED);
	for (int cpu = 0; cpu < CPUS; cpu++)
		add_cpu(&r, &s.trace, cpu);
	fake_lost(&r, CPUS, 3);
	if (fwrite(r.data, 1, r.size, stdout) != r.size)
		return 1;
	fake_free(&r);
	story_free(&s);
	return 0;
}
