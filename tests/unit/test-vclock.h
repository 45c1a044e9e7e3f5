/* SPDX-License-Identifier: GPL-2.0 */
/* The tests of vclock.c share this: a small machine and exact arithmetic. */
#ifndef TEST_VCLOCK_H
#define TEST_VCLOCK_H

#include <errno.h>
#include <stddef.h>

#include "module/vclock.h"
#include "spend.h"
#include "tap.h"
#include "tests/sim/rng.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL
#define DAY		(86400 * NSEC_PER_SEC)

#define CPUS		8
#define WINDOW		500000ULL

typedef unsigned __int128 u128;

struct machine {
	struct vclock vc;
	struct vclock_cpu cpu[CPUS];
	u64 least[2 * CPUS];
	raw_spinlock_t lock[CPUS];
};

static inline void machine_init(struct machine *m, u64 real)
{
	struct vclock_memory memory = { CPUS, m->cpu, m->least, m->lock };

	vclock_init(&m->vc, &memory, WINDOW, real);
}

/* A task that runs on @cpu from @ready on. */
static inline void start(struct machine *m, struct vclock_task *t,
			 unsigned int cpu, u32 percent, u64 ready, u64 real)
{
	vclock_task_init(t, percent, ready);
	vclock_join(&m->vc, t, cpu, real);
}

/* A new machine that runs a task at percent 100 from 0 on. */
static inline void machine_with(struct machine *m, struct vclock_task *t,
				unsigned int cpu)
{
	machine_init(m, 0);
	start(m, t, cpu, 100, 0, 0);
}

/* A new machine that runs two, on CPUs 0 and 1. */
static inline void machine_with_two(struct machine *m, struct vclock_task *a,
				    struct vclock_task *b)
{
	machine_with(m, a, 0);
	start(m, b, 1, 100, 0, 0);
}

/* In units of 2^-32 ns. */
static inline u128 fixed(struct vclock_time v)
{
	return (u128)v.ns << 32 | v.frac;
}

#endif
