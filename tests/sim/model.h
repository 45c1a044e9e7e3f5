/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of virtual time once more, as naively as they can be written:
 * linear scans for every minimum and 128-bit fixed point for every time. The
 * simulator holds vclock.c against it, call by call.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* Virtual time in units of 2^-32 ns. */
typedef unsigned __int128 fixed_t;

struct model_cpu {
	fixed_t lvt;
	unsigned int tasks;
};

struct model_task {
	uint32_t percent, lowest;	/* thousandths */
	int cpu;
	fixed_t credit, charged;
	uint64_t seen, ready, blocked_at, blocked_real, ran;
	bool queued, release;
	uint64_t when, order;
};

struct model {
	uint64_t window, gvt, idle_since, skew, order;
	unsigned int outside;
	bool skip;
	unsigned int cpus, tasks;
	struct model_cpu *cpu;
	struct model_task *task;
};

static inline fixed_t fixed_from(uint64_t ns)
{
	return (fixed_t)ns << 32;
}

static inline uint64_t fixed_ns(fixed_t v)
{
	return (uint64_t)(v >> 32);
}

/* R1, of one charge at thousandths of a percent: rounded down. */
static inline fixed_t model_virtual(uint64_t real_ns, uint32_t percent)
{
	return fixed_from(real_ns) * 100000 / percent;
}

unsigned int model_active(const struct model *m);
uint64_t model_gvt_at(const struct model *m, uint64_t real);
void model_advance(struct model *m, uint64_t real);

void model_task_init(struct model_task *t, uint32_t percent, uint64_t ready);
void model_charge(struct model *m, struct model_task *t, uint64_t real_ns);
void model_move(struct model *m, struct model_task *t, uint64_t ns);
uint64_t model_now(const struct model *m, struct model_task *t);

void model_join(struct model *m, struct model_task *t, unsigned int cpu,
		uint64_t real);
void model_block(struct model *m, struct model_task *t, uint64_t real);
void model_leave(struct model *m, struct model_task *t, uint64_t real);

void model_ready_by(const struct model *m, struct model_task *t,
		    const struct model_task *waker);
bool model_ready_outside(struct model *m, struct model_task *t, uint64_t real);

void model_arm(struct model *m, struct model_task *t, uint64_t when);
void model_gate(struct model *m, struct model_task *t, uint64_t when);
struct model_task *model_first(const struct model *m, bool release);
struct model_task *model_due(const struct model *m);

bool model_ahead(const struct model *m, unsigned int cpu);

#endif
