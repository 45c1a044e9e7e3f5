// SPDX-License-Identifier: GPL-2.0
/*
 * Real time, CPUs and their schedulers. Like the kernel module, it charges a
 * CPU's running task only when something happens on that CPU: a timer that
 * vclock_horizon() asked for, or any other event at a random time.
 */
#include <stddef.h>

#include "sim.h"

static bool taken(const struct sim *s, const struct cpu *c)
{
	return c->others_until > s->real;
}

static void list_add(struct sim *s, int t, unsigned int cpu)
{
	struct cpu *c = &s->cpu[cpu];

	s->task[t].prev = NONE;
	s->task[t].next = c->first;
	if (c->first != NONE)
		s->task[c->first].prev = t;
	c->first = t;
}

static void list_del(struct sim *s, int t, unsigned int cpu)
{
	struct task *task = &s->task[t];

	if (task->prev != NONE)
		s->task[task->prev].next = task->next;
	else
		s->cpu[cpu].first = task->next;
	if (task->next != NONE)
		s->task[task->next].prev = task->prev;
}

/* R1: the running task, up to now. A step past the window is remembered. */
static void settle(struct sim *s, unsigned int cpu)
{
	struct cpu *c = &s->cpu[cpu];
	uint64_t before = s->vcpu[cpu].lvt.ns, step;
	bool ahead;

	if (c->running == NONE)
		return;
	ahead = op_ahead(s, c->running);
	/* One that has told how low it goes may have changed its percent. */
	if (s->task[c->running].v.lowest)
		op_stretch(s, c->running, s->real - c->stamp);
	else
		op_charge(s, c->running, s->real - c->stamp);
	c->stamp = s->real;
	step = s->vcpu[cpu].lvt.ns - before;
	c->over = ahead ? c->over + step : step;
}

/* R6: stops @t, which would return to user mode now. */
static void gate(struct sim *s, int t)
{
	sim_say(s, "task %d is gated", t);
	op_gate(s, t);
	s->task[t].state = GATED;
	s->cpu[s->task[t].v.cpu].gated++;
	s->gates++;
}

static int pick(struct sim *s, unsigned int cpu)
{
	unsigned int ready = s->vcpu[cpu].tasks - s->cpu[cpu].gated;
	uint64_t skip;
	int t;

	if (!ready)
		return NONE;
	skip = rng_below(&s->rng, ready);
	for (t = s->cpu[cpu].first; t != NONE; t = s->task[t].next)
		if (s->task[t].state == READY && !skip--)
			break;
	return t;
}

/* Somebody else may run, and whoever is ahead does not. */
static void schedule(struct sim *s, unsigned int cpu)
{
	struct cpu *c = &s->cpu[cpu];
	uint64_t ns;
	int t = c->running;

	c->timer = NEVER;
	c->running = NONE;
	if (taken(s, c))
		return;
	if (t == NONE || rng_chance(&s->rng, 30))
		t = pick(s, cpu);
	while (t != NONE && op_ahead(s, t) && !s->task[t].in_kernel) {
		gate(s, t);
		t = pick(s, cpu);
	}
	if (t == NONE) {
		/* No timer here: whoever is active elsewhere has one. */
		(void)op_horizon(s, NONE);
		return;
	}
	c->running = t;
	c->stamp = s->real;
	ns = op_horizon(s, t);
	if (ns != NEVER)
		c->timer = s->real + ns;
}

unsigned int machine_cpu_for(struct sim *s, int t)
{
	int last = s->task[t].last_cpu;

	if (last != NONE && rng_chance(&s->rng, 50))
		return (unsigned int)last;
	return (unsigned int)rng_below(&s->rng, s->cpus);
}

/* A CPU without tasks goes on from what @t has seen, however far that is. */
static void join(struct sim *s, int t, unsigned int cpu)
{
	struct task *task = &s->task[t];
	struct cpu *c = &s->cpu[cpu];

	if (!s->vcpu[cpu].tasks && task->over > c->over)
		c->over = task->over;
	op_join(s, t, cpu);
	list_add(s, t, cpu);
	task->last_cpu = (int)cpu;
}

/* @t, which is on no list, becomes runnable on @cpu. */
void machine_put(struct sim *s, int t, unsigned int cpu)
{
	struct task *task = &s->task[t];
	struct cpu *c = &s->cpu[cpu];

	join(s, t, cpu);
	task->state = READY;
	if (op_now(s, t) < s->m.gvt)
		sim_fail(s, "task %d starts before GVT", t);
	if (c->running == NONE)
		schedule(s, cpu);
}

/* @t, which has been settled if it runs, is on no list any more. */
void machine_take(struct sim *s, int t)
{
	struct task *task = &s->task[t];
	unsigned int cpu = (unsigned int)task->v.cpu;
	struct cpu *c = &s->cpu[cpu];

	list_del(s, t, cpu);
	if (task->state == GATED)
		c->gated--;
	if (c->running == t)
		c->running = NONE;
	/* Others may have jumped there. */
	task->stalled = false;
	/*
	 * It may have seen a time elsewhere that is still later than this CPU.
	 */
	if (task->v.seen <= s->vcpu[cpu].lvt.ns || c->over > task->over)
		task->over = c->over;
}

/* @t was preempted before it slept at the gate, or woken and has not looked. */
void machine_move_gated(struct sim *s, int t, unsigned int cpu)
{
	machine_take(s, t);
	join(s, t, cpu);
	s->cpu[cpu].gated++;
	op_regate(s, t);
}

/* @t, whose ready time is known, joins now or a little later. */
void machine_wake(struct sim *s, int t)
{
	unsigned int cpu = machine_cpu_for(s, t);

	if (rng_chance(&s->rng, 80)) {
		machine_put(s, t, cpu);
		return;
	}
	sim_say(s, "task %d is coming", t);
	s->task[t].state = COMING;
	s->task[t].last_cpu = (int)cpu;
	s->task[t].event_at = s->real + rng_scale(&s->rng, 10000);
	op_outside(s, 1);
}

static void release(struct sim *s, int t)
{
	unsigned int cpu = (unsigned int)s->task[t].v.cpu;

	s->task[t].state = READY;
	s->cpu[cpu].gated--;
	if (rng_chance(&s->rng, 20)) {
		machine_take(s, t);
		machine_put(s, t, (unsigned int)rng_below(&s->rng, s->cpus));
	} else if (s->cpu[cpu].running == NONE) {
		schedule(s, cpu);
	}
}

/* R7: all that is due. */
static void fire(struct sim *s)
{
	uint64_t before = s->m.gvt;
	int t;

	while ((t = op_expire(s)) != NONE) {
		struct task *task = &s->task[t];
		uint64_t when = task->v.deadline.when;

		sim_say(s, "deadline %llu of task %d fires at GVT %llu",
			(unsigned long long)when, t,
			(unsigned long long)s->m.gvt);
		if (s->m.skip && before < when && s->m.gvt == when)
			s->skips++;
		if (task->state == GATED) {
			release(s, t);
			continue;
		}
		op_ready_at(s, t, when);
		machine_wake(s, t);
	}
}

static void service(struct sim *s, unsigned int cpu)
{
	struct cpu *c = &s->cpu[cpu];

	settle(s, cpu);
	fire(s);
	if (c->running != NONE) {
		/*
		 * A task that was released or woken just now has not run yet.
		 */
		if (c->stamp != s->real)
			sim_fail(s, "CPU %u runs what is not charged", cpu);
		action_random(s, c->running);
	}
	fire(s);
	schedule(s, cpu);
	fire(s);
}

/* Returns the time of the next event: on a CPU, or of a task if *task. */
static uint64_t next_event(struct sim *s, unsigned int *cpu, int *task)
{
	uint64_t at = NEVER;

	*task = NONE;
	*cpu = 0;
	for (unsigned int k = 0; k < s->cpus; k++) {
		const struct cpu *c = &s->cpu[k];
		uint64_t when = c->others_until ? c->others_until : c->timer;

		if (when < at) {
			at = when;
			*cpu = k;
		}
	}
	for (unsigned int i = 0; i < s->tasks; i++) {
		const struct task *t = &s->task[i];

		if ((t->state == OUTSIDE || t->state == COMING) &&
		    t->event_at < at) {
			at = t->event_at;
			*task = (int)i;
		}
	}
	return at;
}

static void handle(struct sim *s, unsigned int cpu, int task)
{
	if (task != NONE) {
		action_event(s, task);
		fire(s);
		return;
	}
	if (s->cpu[cpu].others_until)
		s->cpu[cpu].others_until = 0;
	service(s, cpu);
}

/* R5: no CPU is active; real time passes, or is skipped. */
static void idle_step(struct sim *s)
{
	unsigned int cpu;
	uint64_t at, ns;
	int task, t;

	op_advance(s);
	fire(s);
	if (vclock_active(&s->vc))
		return;
	at = next_event(s, &cpu, &task);
	ns = op_horizon(s, NONE);
	if (ns != NEVER && s->real + ns < at) {
		s->real += rng_chance(&s->rng, 80) ? ns : rng_below(&s->rng, ns + 1);
		fire(s);
	} else if (at != NEVER) {
		if (at > s->real)
			s->real = at;
		handle(s, cpu, task);
	} else {
		t = action_find(s, WAITING);
		if (t == NONE)
			sim_fail(s, "stall: %u tasks, nothing will happen",
				 s->alive);
		action_event(s, t);
		fire(s);
	}
}

/* A CPU that runs a task, or NONE. */
static int any_cpu(struct sim *s)
{
	unsigned int start = (unsigned int)rng_below(&s->rng, s->cpus);

	for (unsigned int i = 0; i < s->cpus; i++) {
		unsigned int cpu = (start + i) % s->cpus;

		if (s->cpu[cpu].running != NONE)
			return (int)cpu;
	}
	return NONE;
}

/* True as long as there are tasks. */
bool machine_step(struct sim *s)
{
	uint64_t at, then;
	unsigned int cpu;
	int task, runs;

	s->step++;
	if (!vclock_active(&s->vc)) {
		idle_step(s);
		return s->alive;
	}
	at = next_event(s, &cpu, &task);
	then = s->real + rng_scale(&s->rng, s->grain);
	runs = any_cpu(s);
	if (runs == NONE && at == NEVER)
		sim_fail(s, "stall: tasks are runnable and none can run");
	if (runs != NONE && at > then) {
		s->real = then;
		service(s, (unsigned int)runs);
		return s->alive;
	}
	/* A timer may be late, but it does come. */
	if (at < then && rng_chance(&s->rng, 10))
		s->real = then;
	else if (at > s->real)
		s->real = at;
	handle(s, cpu, task);
	return s->alive;
}

void machine_init(struct sim *s)
{
	uint64_t window = VCLOCK_WINDOW_MIN +
		rng_scale(&s->rng, VCLOCK_WINDOW_MAX - VCLOCK_WINDOW_MIN);

	s->real = 1000 + rng_below(&s->rng, 1ULL << 40);
	vclock_init(&s->vc, &s->memory, window, s->real);
	s->m.window = window;
	s->m.idle_since = s->real;
	s->m.cpus = s->cpus;
	s->m.tasks = s->tasks;
	s->vc.skip = s->m.skip = rng_chance(&s->rng, 40);
	s->latest = 0;
	s->read = 0;
	s->vc.latest = &s->latest;
	s->vc.ordered = rng_chance(&s->rng, 50);
	s->grain = rng_scale(&s->rng, 4 * window / s->cpus + 2);
	for (unsigned int k = 0; k < s->cpus; k++)
		s->cpu[k] = (struct cpu) {
			.first = NONE, .running = NONE, .timer = NEVER,
		};
	for (unsigned int i = 0; i < s->tasks; i++) {
		s->task[i].state = UNUSED;
		s->task[i].last_cpu = NONE;
		model_task_init(model_of(s, (int)i), 100, 0);
	}
	sim_say(s, "window %llu, skip %d, grain %llu",
		(unsigned long long)window, s->vc.skip,
		(unsigned long long)s->grain);
}
