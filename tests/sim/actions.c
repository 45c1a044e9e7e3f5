// SPDX-License-Identifier: GPL-2.0
/* Tasks of a simulated program do these actions, or others do them to tasks. */
#include <stddef.h>

#include "sim.h"

/* Real ns. At percents below 10 this exceeds VCLOCK_LATEST_MAX ten times. */
#define STALL_MAX	100000000

typedef void (*action_fn)(struct sim *s, int t);

static struct cpu *cpu_of(struct sim *s, int t)
{
	return &s->cpu[s->task[t].v.cpu];
}

/* A random task in that state, or NONE. Not all are looked at if many. */
int action_find(struct sim *s, enum state state)
{
	unsigned int start = (unsigned int)rng_below(&s->rng, s->tasks);

	for (unsigned int i = 0; i < s->tasks; i++) {
		unsigned int t = (start + i) % s->tasks;

		if (s->task[t].state == state)
			return (int)t;
	}
	return NONE;
}

/* A new task: a child of @parent, or one that joins from outside. */
int action_start(struct sim *s, int parent, unsigned int cpu)
{
	int t = action_find(s, UNUSED);
	uint64_t ready = s->m.gvt;
	uint32_t percent = (uint32_t)rng_scale(&s->rng, 1000);

	if (t == NONE)
		return t;
	if (parent != NONE) {
		ready = s->vcpu[s->task[parent].v.cpu].lvt.ns;
		percent = s->task[parent].v.percent;
	}
	s->task[t] = (struct task) {
		.last_cpu = NONE,
		.in_kernel = rng_chance(&s->rng, 10),
		.over = parent != NONE ? cpu_of(s, parent)->over : 0,
	};
	op_task_init(s, t, percent, ready);
	s->alive++;
	sim_say(s, "task %d starts on CPU %u at %u %%", t, cpu, percent);
	machine_put(s, t, cpu);
	return t;
}

/* R11: from whatever it is doing. */
static void leave(struct sim *s, int t)
{
	struct task *task = &s->task[t];

	sim_say(s, "task %d leaves", t);
	if (task->v.cpu >= 0)
		machine_take(s, t);
	if (task->state == OUTSIDE || task->state == COMING)
		op_outside(s, -1);
	op_leave(s, t);
	task->state = UNUSED;
	s->alive--;
}

static void block(struct sim *s, int t, enum state state)
{
	machine_take(s, t);
	op_block(s, t);
	s->task[t].state = state;
}

static void do_compute(struct sim *s, int t)
{
	uint64_t end = vclock_reached(&s->vc) + s->m.window;

	/* Otherwise the task stops before its program can use the reading. */
	if (op_now(s, t) <= end) {
		s->task[t].stalled = false;
		op_read(s, t);
	} else if (s->task[t].stalled && s->vcpu[s->task[t].v.cpu].lvt.ns <= end) {
		op_read(s, t);
	}
}

static void do_percent(struct sim *s, int t)
{
	static const uint32_t bad[] = { 0, 100001, UINT32_MAX };
	uint32_t percent = (uint32_t)rng_scale(&s->rng, 100000);

	if (rng_chance(&s->rng, 10))
		percent = bad[rng_below(&s->rng, 3)];
	else if (rng_chance(&s->rng, 50))
		percent = 50 + (uint32_t)rng_below(&s->rng, 200);
	sim_say(s, "task %d: percent %u", t, percent);
	op_percent(s, t, percent);
	if (rng_chance(&s->rng, 30))
		op_lowest(s, t, (uint32_t)rng_scale(&s->rng, 1000000));
}

static void sleep_for(struct sim *s, int t, enum state state)
{
	uint64_t now = op_now(s, t);
	uint64_t when = now + rng_below(&s->rng, 2 * s->m.window);

	/* Many at the same instant, at times. */
	if (rng_chance(&s->rng, 30))
		when = when / 100000 * 100000 + 100000;
	when = op_wait(s, t, when - now);
	sim_say(s, "task %d sleeps until %llu", t, (unsigned long long)when);
	if (rng_chance(&s->rng, 50)) {
		op_arm(s, t, when);
		block(s, t, state);
	} else {
		block(s, t, state);
		op_arm(s, t, when);
	}
}

static void do_sleep(struct sim *s, int t)
{
	sleep_for(s, t, SLEEPING);
}

static void wake_by(struct sim *s, int t, int waker)
{
	const struct cpu *from = cpu_of(s, waker);
	uint64_t bound = s->m.window + from->over, mine, its;

	sim_say(s, "task %d wakes task %d", waker, t);
	op_disarm(s, t);
	op_ready_by(s, t, waker);
	if (from->over > s->task[t].over)
		s->task[t].over = from->over;
	machine_wake(s, t);
	if (s->task[t].v.cpu < 0)
		return;
	/* R9: who is woken is at most the window behind. */
	mine = s->vcpu[s->task[waker].v.cpu].lvt.ns;
	its = op_now(s, t);
	if (its + bound < mine)
		sim_fail(s, "task %d wakes at %llu one that sees %llu", waker,
			 (unsigned long long)mine, (unsigned long long)its);
}

/* Peers: wake one that waits, or interrupt a sleep; else wait for a peer. */
static void do_peer(struct sim *s, int t)
{
	int peer = NONE;

	if (rng_chance(&s->rng, 50))
		peer = action_find(s, rng_chance(&s->rng, 80) ?
				   WAITING : SLEEPING);
	if (peer != NONE)
		wake_by(s, peer, t);
	else if (rng_chance(&s->rng, 50))
		block(s, t, WAITING);
	else
		sleep_for(s, t, WAITING);
}

static void do_outside(struct sim *s, int t)
{
	sim_say(s, "task %d waits for the outside", t);
	block(s, t, OUTSIDE);
	op_outside(s, 1);
	s->task[t].event_at = s->real + rng_scale(&s->rng, 4 * s->m.window);
	s->outside++;
}

/* R3: woken by what is no task of the experiment. */
static void wake_outside(struct sim *s, int t)
{
	op_disarm(s, t);
	if (op_ready_outside(s, t)) {
		sim_say(s, "task %d is held until %llu", t,
			(unsigned long long)s->task[t].v.ready);
		op_arm(s, t, s->task[t].v.ready);
		s->task[t].state = HELD;
		s->held++;
	} else {
		sim_say(s, "task %d is woken from outside", t);
		machine_wake(s, t);
	}
}

/* The event that @t waits for, or a signal. */
void action_event(struct sim *s, int t)
{
	struct task *task = &s->task[t];

	if (task->state == COMING) {
		machine_put(s, t, (unsigned int)task->last_cpu);
		op_outside(s, -1);
		return;
	}
	if (task->state == OUTSIDE)
		op_outside(s, -1);
	wake_outside(s, t);
}

static void do_signal(struct sim *s, int t)
{
	int other = action_find(s, rng_chance(&s->rng, 50) ? WAITING : SLEEPING);

	(void)t;
	if (other != NONE)
		action_event(s, other);
}

static void do_jump(struct sim *s, int t)
{
	uint64_t ns = rng_scale(&s->rng, 4 * s->m.window), now, step;
	struct cpu *c = cpu_of(s, t);

	if (rng_chance(&s->rng, 20))
		ns = 0;
	sim_say(s, "task %d jumps by %llu", t, (unsigned long long)ns);
	now = s->vcpu[s->task[t].v.cpu].lvt.ns;
	op_move(s, t, ns);
	step = s->vcpu[s->task[t].v.cpu].lvt.ns - now;
	if (step != ns)
		sim_fail(s, "a jump by %llu moved time by %llu",
			 (unsigned long long)ns, (unsigned long long)step);
	c->over += step;
}

/*
 * A host stops the CPU that runs @t, which is charged for that. Before the gate
 * stops @t, it moves to another CPU.
 */
static void do_stall(struct sim *s, int t)
{
	unsigned int from = (unsigned int)s->task[t].v.cpu;
	unsigned int to = (unsigned int)rng_below(&s->rng, s->cpus);
	uint64_t now = s->vcpu[from].lvt.ns, step;

	/* Skip a task that a jump took ahead: its readings have another bound. */
	if (to == from || op_now(s, t) > vclock_reached(&s->vc) + s->m.window)
		return;
	op_charge(s, t, rng_scale(&s->rng, STALL_MAX));
	step = s->vcpu[from].lvt.ns - now;
	sim_say(s, "task %d is stalled for %llu and goes to CPU %u", t,
		(unsigned long long)step, to);
	s->cpu[from].over += step;
	s->stall = step > s->stall ? step : s->stall;
	machine_take(s, t);
	s->task[t].stalled = true;
	machine_put(s, t, to);
}

static void do_credit(struct sim *s, int t)
{
	uint64_t ns = rng_scale(&s->rng, s->m.window);

	sim_say(s, "task %d: credit %llu", t, (unsigned long long)ns);
	if (rng_chance(&s->rng, 50))
		op_credit(s, t, ns);
	else
		op_refund(s, t, ns);
}

static void do_fork(struct sim *s, int t)
{
	if (rng_chance(&s->rng, 60))
		action_start(s, rng_chance(&s->rng, 80) ? t : NONE,
			     (unsigned int)rng_below(&s->rng, s->cpus));
	else if (s->alive > 1)
		leave(s, t);
}

/*
 * Pulls a task that is runnable elsewhere to this CPU, or away from here; or one
 * that is at the gate.
 */
static void do_migrate(struct sim *s, int t)
{
	unsigned int to = (unsigned int)s->task[t].v.cpu;
	int other = action_find(s, rng_chance(&s->rng, 80) ? READY : GATED);

	if (other == NONE || s->cpu[s->task[other].v.cpu].running == other)
		return;
	if (s->task[other].v.cpu == (int)to)
		to = (unsigned int)rng_below(&s->rng, s->cpus);
	if (s->task[other].v.cpu == (int)to)
		return;
	sim_say(s, "task %d goes to CPU %u", other, to);
	if (s->task[other].state == GATED) {
		machine_move_gated(s, other, to);
		return;
	}
	machine_take(s, other);
	machine_put(s, other, to);
}

static void do_others(struct sim *s, int t)
{
	struct cpu *c = cpu_of(s, t);

	c->others_until = s->real + rng_scale(&s->rng, 2 * s->m.window);
	sim_say(s, "others take CPU %d until %llu", s->task[t].v.cpu,
		(unsigned long long)c->others_until);
}

static void do_kill(struct sim *s, int t)
{
	static const enum state victims[] = {
		GATED, WAITING, SLEEPING, OUTSIDE, HELD, COMING
	};
	int other = action_find(s, victims[rng_below(&s->rng, 6)]);

	if (other != NONE && s->alive > 1)
		leave(s, other);
	op_advance(s);
	(void)t;
}

static const action_fn actions[] = {
	do_compute, do_percent, do_sleep, do_peer, do_outside, do_jump,
	do_credit, do_fork, do_migrate, do_others, do_kill, do_signal, do_stall,
};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

/* @t runs and has been charged. */
void action_random(struct sim *s, int t)
{
	unsigned int which = (unsigned int)rng_below(&s->rng, ACTIONS);

	s->task[t].in_kernel = rng_chance(&s->rng, 10);
	if (s->draining) {
		leave(s, t);
		return;
	}
	if (!(s->mix & 1U << which))
		which = 0;
	actions[which](s, t);
}
