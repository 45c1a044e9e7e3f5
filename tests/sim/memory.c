// SPDX-License-Identifier: GPL-2.0
#include "memory.h"
#include "sim.h"

void sim_alloc(struct sim *s)
{
	s->vcpu = zalloc(s->cpus, sizeof(*s->vcpu));
	s->memory = (struct vclock_memory) {
		.cpus = s->cpus,
		.cpu = s->vcpu,
		.least = zalloc(2 * gvt_leaves(s->cpus), sizeof(u64)),
		.lock = zalloc(gvt_leaves(s->cpus), sizeof(raw_spinlock_t)),
	};
	s->m.cpu = zalloc(s->cpus, sizeof(*s->m.cpu));
	s->m.task = zalloc(s->tasks, sizeof(*s->m.task));
	s->cpu = zalloc(s->cpus, sizeof(*s->cpu));
	s->task = zalloc(s->tasks, sizeof(*s->task));
}

void sim_free(struct sim *s)
{
	free(s->vcpu);
	free(s->memory.least);
	free(s->memory.lock);
	free(s->m.cpu);
	free(s->m.task);
	free(s->cpu);
	free(s->task);
}
