/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A machine of up to thousands of CPUs that runs random programs in virtual
 * time, by module/vclock.c. The parts:
 *
 *	model.c		the rules, naively
 *	ops.c		one call of vclock.c, compared with the model
 *	machine.c	real time, CPUs, scheduling, gates, timers
 *	actions.c	what tasks do
 *	check.c		what must hold after every step
 *	driver.c	what the drivers sim and oracle share
 *	sim.c		the command line and the report
 *
 * All that happens follows from the seed.
 */
#ifndef SIM_H
#define SIM_H

#include <setjmp.h>

#include "model.h"
#include "module/vclock.h"
#include "rng.h"

#define NONE		(-1)
#define NEVER		UINT64_MAX

enum state {
	UNUSED,
	READY,		/* on a CPU's list, or running */
	GATED,		/* on a CPU's list too, until its deadline */
	WAITING,		/* for a peer, with or without a timeout */
	SLEEPING,	/* until its deadline */
	OUTSIDE,	/* for an event at a real time */
	HELD,		/* woken from outside, ahead of GVT: a deadline */
	COMING,		/* woken, joins its CPU at a real time */
};

struct task {
	struct vclock_task v;
	enum state state;
	bool in_kernel;		/* finishes that before it can be gated */
	bool stalled;		/* left its CPU when that was far ahead */
	uint64_t event_at;	/* real; OUTSIDE and COMING */
	uint64_t told;		/* the latest time it was told */
	uint64_t read;		/* R9: no reading of it is earlier */
	uint64_t promised, due;	/* R9: nor earlier than this after its sleep */
	uint64_t over;		/* bound on its time - GVT - window */
	int last_cpu, next, prev;
};

struct cpu {
	int first, running;	/* tasks */
	uint64_t stamp;		/* real: when the running one was charged */
	uint64_t timer;		/* real */
	uint64_t others_until;	/* real; runs what is no business of ours */
	uint64_t over;		/* bound on LVT - GVT - window: one step */
	unsigned int gated;
	uint64_t read;		/* R9: the latest reading on it */
};

struct sim {
	uint64_t seed, step, steps;
	unsigned int cpus, tasks, alive;
	unsigned int apart;	/* real ns that the CPUs' clocks may differ by */
	bool verbose;
	jmp_buf failed;

	struct rng rng;
	uint64_t real;
	uint64_t gvt_before;
	uint64_t grain;		/* real ns between steps, about */
	unsigned int mix;	/* which actions this schedule has */
	bool draining;

	struct vclock vc;
	struct vclock_memory memory;
	struct vclock_cpu *vcpu;	/* the CPUs in there */
	uint64_t latest;	/* R9: the word of all readings */
	uint64_t read;		/* R9: the latest reading of all */
	uint64_t stall;		/* virtual: the longest so far */
	struct model m;

	struct cpu *cpu;
	struct task *task;

	/* Counts events, so that a report can tell whether they happened. */
	uint64_t fired, gates, held, skips, outside, readings;
	uint64_t ops;
};

/* Reports seed, step and reason, and ends the schedule. */
_Noreturn void sim_fail(struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void sim_say(const struct sim *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The number that an option has, or the end of the program. */
uint64_t sim_number(const char *text, const char *option, uint64_t most);

static inline struct model_task *model_of(struct sim *s, int t)
{
	return &s->m.task[t];
}

/* memory.c: for so many CPUs and tasks as it says */
void sim_alloc(struct sim *s);
void sim_free(struct sim *s);

/* ops.c */
uint64_t op_real(struct sim *s);
void op_task_init(struct sim *s, int t, uint32_t percent, uint64_t ready);
void op_percent(struct sim *s, int t, uint32_t percent);
void op_charge(struct sim *s, int t, uint64_t real_ns);
void op_stretch(struct sim *s, int t, uint64_t real_ns);
void op_lowest(struct sim *s, int t, uint32_t percent);
void op_move(struct sim *s, int t, uint64_t ns);
void op_credit(struct sim *s, int t, uint64_t ns);
void op_refund(struct sim *s, int t, uint64_t real_ns);
uint64_t op_now(struct sim *s, int t);
void op_read(struct sim *s, int t);
void op_join(struct sim *s, int t, unsigned int cpu);
void op_block(struct sim *s, int t);
void op_leave(struct sim *s, int t);
uint64_t op_wait(struct sim *s, int t, uint64_t ns);
void op_ready_at(struct sim *s, int t, uint64_t when);
void op_ready_by(struct sim *s, int t, int waker);
bool op_ready_outside(struct sim *s, int t);
void op_advance(struct sim *s);
void op_arm(struct sim *s, int t, uint64_t when);
void op_gate(struct sim *s, int t);
void op_disarm(struct sim *s, int t);
int op_expire(struct sim *s);
bool op_ahead(struct sim *s, int t);
void op_regate(struct sim *s, int t);
uint64_t op_horizon(struct sim *s, int t);
void op_outside(struct sim *s, int by);

/* machine.c */
void machine_init(struct sim *s);
bool machine_step(struct sim *s);
void machine_put(struct sim *s, int t, unsigned int cpu);
void machine_take(struct sim *s, int t);
void machine_move_gated(struct sim *s, int t, unsigned int cpu);
void machine_wake(struct sim *s, int t);
unsigned int machine_cpu_for(struct sim *s, int t);

/* actions.c */
void action_random(struct sim *s, int t);
int action_start(struct sim *s, int parent, unsigned int cpu);
void action_event(struct sim *s, int t);
int action_find(struct sim *s, enum state state);

/* check.c */
void check_step(struct sim *s);
void check_all(struct sim *s);
void check_end(struct sim *s);

#endif
