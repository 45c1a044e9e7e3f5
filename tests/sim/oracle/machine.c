// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "agenda.h"
#include "calls.h"
#include "machine.h"
#include "memory.h"

/* A task's state beside the one in the simulator. */
struct body {
	uint64_t left;		/* real ns of the CPU */
	bool computes;
	bool in_kernel;
	bool placed;		/* has had the CPU since it became ready */
	int next;		/* ready on the same CPU */
};

struct core {
	struct waiters ready;	/* the first one runs, or is gated */
	bool on;		/* it computes */
	unsigned int speed;	/* thousandths */
	uint64_t part;		/* thousandths of a ns that it ran */
	uint64_t stamp;		/* real: when it was charged */
	uint64_t timer, poke;	/* real: when it looks */
	uint64_t tick;		/* real: when it is charged at the latest */
	uint64_t others_at, others_until;
};

struct bench {
	struct calls calls;
	struct play play;
	const struct setup *setup;
	struct agenda agenda;	/* CPUs, then tasks */
	struct core *core;
	struct body *body;
	struct results *results;
	struct counts *counts;
	struct rng rng;
	uint64_t due_since;	/* real: a deadline waits for its timer */
	uint64_t due_before;	/* the first deadline, when timers were checked */
};

static char failure[FAILURE_LENGTH];

_Noreturn void sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(failure, sizeof(failure), fmt, ap);
	va_end(ap);
	longjmp(s->failed, 1);
}

static struct sim *sim(struct bench *b)
{
	return &b->calls.s;
}

static enum state *state(struct bench *b, int t)
{
	return &sim(b)->task[t].state;
}

static uint64_t up_to(struct bench *b, uint64_t ns)
{
	return rng_below(&b->rng, ns + 1);
}

static uint64_t gvt(struct bench *b)
{
	return vclock_gvt(&sim(b)->vc, sim(b)->real);
}

/* --- CPUs and timers --- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void plan(struct bench *b, unsigned int cpu)
{
	struct core *c = &b->core[cpu];
	uint64_t at = earlier(c->timer, c->poke), left;

	if (c->others_until)
		at = earlier(at, c->others_until);
	else
		at = earlier(at, c->others_at);
	if (c->on) {
		left = b->body[c->ready.first].left * 1000 - c->part;
		at = earlier(at, c->stamp + (left + c->speed - 1) / c->speed);
		at = earlier(at, c->tick);
	}
	agenda_set(&b->agenda, cpu, at == NEVER ? AGENDA_NEVER : at);
}

/* The CPU looks what is to be done, in so many ns. */
static void poke(struct bench *b, unsigned int cpu, uint64_t ns)
{
	struct core *c = &b->core[cpu];

	c->poke = earlier(c->poke, sim(b)->real + ns);
	plan(b, cpu);
}

/* R7: the timers of running tasks may be set for something that is later. */
static void kick(struct bench *b)
{
	b->counts->kicks++;
	for (unsigned int k = 0; k < b->setup->cpus; k++)
		if (b->core[k].on)
			poke(b, k, up_to(b, b->setup->lateness));
}

/* The same where another deadline was the first. */
static void kick_past(struct bench *b, uint64_t was)
{
	if (sim(b)->vc.due == was)
		return;
	for (unsigned int k = 0; k < b->setup->cpus; k++) {
		if (!vclock_untimed(&sim(b)->vc, k, was))
			continue;
		b->counts->kicks++;
		poke(b, k, up_to(b, b->setup->lateness));
	}
}

static void arm(struct bench *b, int t, uint64_t when)
{
	call(&b->calls, CALL_ARM, t, when);
	if (sim(b)->vc.first == &sim(b)->task[t].v.deadline)
		kick(b);
}

static void disarm(struct bench *b, int t)
{
	uint64_t was = sim(b)->vc.due;

	call(&b->calls, CALL_DISARM, t, 0);
	kick_past(b, was);
}

/* R1: what ran, up to now. */
static void settle(struct bench *b, unsigned int cpu)
{
	struct core *c = &b->core[cpu];
	uint64_t parts, ran;

	if (!c->on)
		return;
	parts = (sim(b)->real - c->stamp) * c->speed + c->part;
	ran = parts / 1000;
	c->part = parts % 1000;
	c->stamp = sim(b)->real;
	b->body[c->ready.first].left -= ran;
	if (!ran)
		return;
	b->counts->charges++;
	call(&b->calls, CALL_CHARGE, c->ready.first, ran);
}

static void rearm(struct bench *b, unsigned int cpu)
{
	struct core *c = &b->core[cpu];
	uint64_t ns, at = NEVER;

	call(&b->calls, CALL_ADVANCE, NONE, 0);
	ns = call(&b->calls, CALL_HORIZON, c->on ? c->ready.first : NONE, 0);
	if (ns != NEVER)
		at = sim(b)->real + ns + up_to(b, b->setup->lateness);
	/* One that is due already is not put off. */
	c->timer = ns ? at : earlier(at, c->timer);
}

/* --- tasks come and go --- */

static void join(struct bench *b, int t)
{
	unsigned int cpu = b->play.player[t].cpu;
	struct core *c = &b->core[cpu];

	call(&b->calls, CALL_JOIN, t, cpu);
	*state(b, t) = READY;
	b->body[t].next = NONE;
	b->body[t].placed = false;
	if (c->ready.first != NONE) {
		b->body[c->ready.last].next = t;
		c->ready.last = t;
		return;
	}
	c->ready.first = c->ready.last = t;
	if (rng_chance(&b->rng, b->setup->noise))
		c->others_until = sim(b)->real + 1 + up_to(b, b->setup->noise_ns);
	poke(b, cpu, 0);
}

static void leave_cpu(struct bench *b, int t, unsigned int cpu)
{
	struct core *c = &b->core[cpu];

	c->on = false;
	c->ready.first = b->body[t].next;
}

/* @t is ready and comes to its CPU, now or a little later. */
static void come(struct bench *b, int t, bool late)
{
	uint64_t ns = late ? up_to(b, b->setup->latency) : 0;

	if (!ns) {
		join(b, t);
		return;
	}
	*state(b, t) = COMING;
	call(&b->calls, CALL_OUTSIDE, NONE, 1);
	agenda_set(&b->agenda, b->setup->cpus + (unsigned int)t,
		   sim(b)->real + ns);
}

static void wake(struct play *p, int t, int by)
{
	struct bench *b = p->driver;

	if (*state(b, t) == UNUSED) {
		call(&b->calls, CALL_FORK, t, (uint64_t)by);
		sim(b)->alive++;
	} else {
		disarm(b, t);
		call(&b->calls, CALL_READY_BY, t, (uint64_t)by);
	}
	sim_say(sim(b), "task %d wakes task %d", by, t);
	come(b, t, p->player[t].cpu != p->player[by].cpu);
}

static void block(struct bench *b, int t, enum state to)
{
	play_stops(&b->play, t);
	leave_cpu(b, t, b->play.player[t].cpu);
	call(&b->calls, CALL_BLOCK, t, 0);
	*state(b, t) = to;
}

/* R6 */
static void gate(struct bench *b, int t)
{
	sim_say(sim(b), "task %d is gated", t);
	b->counts->gates++;
	*state(b, t) = GATED;
	call(&b->calls, CALL_GATE, t, 0);
}

static void open(struct bench *b, int t)
{
	*state(b, t) = READY;
	poke(b, b->play.player[t].cpu, 0);
}

/* R7 */
static void expire(struct bench *b, int t)
{
	uint64_t when = sim(b)->task[t].v.deadline.when;
	enum state was = *state(b, t);

	sim_say(sim(b), "deadline %llu of task %d fires at GVT %llu",
		(unsigned long long)when, t, (unsigned long long)gvt(b));
	b->counts->deadlines++;
	if (was == GATED) {
		agenda_set(&b->agenda, b->setup->cpus + (unsigned int)t,
			   sim(b)->real + up_to(b, b->setup->latency));
		return;
	}
	if (was == SLEEPING)
		play_slept(&b->play, t);
	else if (was == WAITING)
		play_timeout(&b->play, t);
	call(&b->calls, CALL_READY_AT, t, when);
	come(b, t, true);
}

static void fire(struct bench *b)
{
	uint64_t was = sim(b)->vc.due, t;

	while ((t = call(&b->calls, CALL_EXPIRE, NONE, 0)) != NEVER)
		expire(b, (int)t);
	kick_past(b, was);
}

/* --- what tasks do --- */

/* The clock as the task sees it has to be within the bounds. */
static void done(struct play *p, int t)
{
	struct bench *b = p->driver;
	const struct player *player = &p->player[t];
	const struct op *op = &player->script->op[player->at];
	struct result *r = result_of(b->results, t, player->at);
	uint64_t low = fixed_ns(player->span.low);
	uint64_t high = fixed_ns(player->span.high);

	r->span = player->span;
	r->clock = call(&b->calls, CALL_NOW, t, 0);
	sim_say(sim(b), "task %d: %s %u %llu is over at %llu, exactly %llu", t,
		op_form[op->kind].name, op->object,
		(unsigned long long)op->amount, (unsigned long long)r->clock,
		(unsigned long long)fixed_ns(player->span.exact));
	if (r->clock < low || r->clock > high)
		sim_fail(sim(b), "task %d, operation %u, %s: over at %llu, which is not %llu to %llu",
			 t, player->at, op_form[op->kind].name,
			 (unsigned long long)r->clock, (unsigned long long)low,
			 (unsigned long long)high);
}

static void wait_outside(struct bench *b, int t, uint64_t ns)
{
	block(b, t, OUTSIDE);
	b->counts->outside++;
	call(&b->calls, CALL_OUTSIDE, NONE, 1);
	agenda_set(&b->agenda, b->setup->cpus + (unsigned int)t,
		   sim(b)->real + ns + up_to(b, b->setup->lateness));
}

/* R3 */
static void come_back(struct bench *b, int t)
{
	bool ahead;

	play_returned(&b->play, t);
	/* Until its ready time is known, no time is skipped past it. */
	ahead = call(&b->calls, CALL_READY_OUTSIDE, t, 0);
	call(&b->calls, CALL_OUTSIDE, NONE, 0);
	if (ahead) {
		*state(b, t) = HELD;
		arm(b, t, sim(b)->task[t].v.ready);
	} else {
		come(b, t, true);
	}
	/* Where the interrupt was. */
	poke(b, b->play.player[t].cpu, 0);
}

static void leave(struct bench *b, int t, unsigned int cpu)
{
	play_stops(&b->play, t);
	leave_cpu(b, t, cpu);
	call(&b->calls, CALL_LEAVE, t, 0);
	*state(b, t) = UNUSED;
	sim(b)->alive--;
}

/* @t, which runs and has been charged, begins its next operation. */
static void step(struct bench *b, int t, unsigned int cpu)
{
	const struct player *p = &b->play.player[t];
	uint32_t percent = p->percent;
	struct body *body = &b->body[t];
	uint64_t amount = 0;
	enum need need;

	need = play_next(&b->play, t, call(&b->calls, CALL_NOW, t, 0), &amount);
	if (p->percent != percent)
		call(&b->calls, CALL_PERCENT, t, p->percent);
	switch (need) {
	case NEED_NOTHING:
		return;
	case NEED_CPU:
	case NEED_KERNEL:
		body->left = amount;
		body->computes = true;
		body->in_kernel = need == NEED_KERNEL;
		return;
	case NEED_WAKING:
		block(b, t, WAITING);
		return;
	case NEED_WAKING_IN:
		arm(b, t, amount);
		block(b, t, WAITING);
		return;
	case NEED_TIME:
		arm(b, t, amount);
		block(b, t, SLEEPING);
		return;
	case NEED_OUTSIDE:
		wait_outside(b, t, amount);
		return;
	case NEED_MOVE:
		leave_cpu(b, t, cpu);
		join(b, t);
		return;
	default:
		leave(b, t, cpu);
	}
}

/* The first task goes on until it computes, is gated or waits; then the next. */
static void work(struct bench *b, unsigned int cpu)
{
	struct core *c = &b->core[cpu];
	struct body *body;
	int t;

	c->on = false;
	while (!c->others_until && (t = c->ready.first) != NONE &&
	       *state(b, t) == READY) {
		body = &b->body[t];
		if (!body->placed) {
			body->placed = true;
			play_starts(&b->play, t);
		}
		if (body->computes && !body->left) {
			body->computes = false;
			body->in_kernel = false;
			play_ran(&b->play, t);
		}
		if (!body->in_kernel && call(&b->calls, CALL_AHEAD, t, 0)) {
			gate(b, t);
		} else if (body->computes) {
			c->on = true;
			c->stamp = sim(b)->real;
			return;
		} else {
			step(b, t, cpu);
		}
	}
}

/* --- real time --- */

static void mind_others(struct bench *b, unsigned int cpu)
{
	const struct setup *s = b->setup;
	struct core *c = &b->core[cpu];

	if (c->others_until && c->others_until <= sim(b)->real) {
		c->others_until = 0;
		c->others_at = NEVER;
	} else if (!c->others_until && c->others_at <= sim(b)->real) {
		c->others_until = sim(b)->real + 1 + up_to(b, 2 * s->noise_ns);
	}
	if (c->ready.first == NONE || !s->noise)
		c->others_at = NEVER;
	else if (!c->others_until && c->others_at == NEVER)
		c->others_at = sim(b)->real + 1 +
			up_to(b, 2 * s->noise_ns * (100 - s->noise) / s->noise);
}

static void cpu_event(struct bench *b, unsigned int cpu)
{
	struct core *c = &b->core[cpu];
	uint64_t now = sim(b)->real;
	bool look = c->timer <= now || c->poke <= now;

	settle(b, cpu);
	if (c->timer <= now)
		c->timer = NEVER;
	if (c->poke <= now)
		c->poke = NEVER;
	c->tick = (now / b->setup->tick + 1) * b->setup->tick;
	if (look)
		fire(b);
	mind_others(b, cpu);
	work(b, cpu);
	rearm(b, cpu);
	plan(b, cpu);
}

static void task_event(struct bench *b, int t)
{
	agenda_set(&b->agenda, b->setup->cpus + (unsigned int)t, AGENDA_NEVER);
	if (*state(b, t) == COMING) {
		join(b, t);
		call(&b->calls, CALL_OUTSIDE, NONE, 0);
	} else if (*state(b, t) == GATED) {
		open(b, t);
	} else {
		come_back(b, t);
	}
}

/* R5, R6 */
static void check_cpu(struct bench *b, unsigned int cpu)
{
	uint64_t lvt = sim(b)->vcpu[cpu].lvt.ns, now = gvt(b);

	if (b->core[cpu].ready.first == NONE)
		return;
	if (lvt < now)
		sim_fail(sim(b), "CPU %u is active at %llu, behind GVT %llu",
			 cpu, (unsigned long long)lvt, (unsigned long long)now);
	if (lvt - now > fixed_ns(b->play.slack.skew))
		sim_fail(sim(b), "CPU %u is at %llu, too far ahead of GVT %llu",
			 cpu, (unsigned long long)lvt, (unsigned long long)now);
}

/* R7: no timer is later than timers are. */
static void check_deadlines(struct bench *b)
{
	if (vclock_horizon(&sim(b)->vc, NULL)) {
		b->due_since = NEVER;
	} else if (b->due_since == NEVER) {
		b->due_since = sim(b)->real;
	} else if (sim(b)->real - b->due_since > b->play.slack.lateness) {
		sim_fail(sim(b), "a deadline at %llu or a release at %llu does not fire at GVT %llu",
			 (unsigned long long)sim(b)->vc.due,
			 (unsigned long long)sim(b)->vc.release_due,
			 (unsigned long long)gvt(b));
	}
}

/* R7: whenever another deadline is first, each CPU has a timer for that. */
static void check_timers(struct bench *b)
{
	uint64_t due = sim(b)->vc.due, now = sim(b)->real, ns, at;

	if (due == b->due_before)
		return;
	b->due_before = due;
	/* The end of the window comes first, which is a matter of its own. */
	if (due > gvt(b) + b->setup->window)
		return;
	for (unsigned int k = 0; k < sim(b)->cpus; k++) {
		struct core *c = &b->core[k];

		if (!c->on || sim(b)->vcpu[k].lvt.ns >= due)
			continue;
		ns = vclock_horizon(&sim(b)->vc,
				    &sim(b)->task[c->ready.first].v);
		at = c->stamp + ns > now ? c->stamp + ns : now;
		if (ns != NEVER && earlier(c->timer, c->poke) >
		    at + b->play.slack.lateness)
			sim_fail(sim(b), "CPU %u at %llu has no timer for the deadline at %llu",
				 k, (unsigned long long)sim(b)->vcpu[k].lvt.ns,
				 (unsigned long long)due);
	}
}

/* R11: nothing is left. */
static void check_left(struct bench *b)
{
	const struct sim *s = sim(b);

	for (unsigned int k = 0; k < s->cpus; k++)
		if (s->vcpu[k].tasks)
			sim_fail(sim(b), "CPU %u is still active", k);
	if (s->vc.outside || s->vc.first)
		sim_fail(sim(b), "left: %u outside, %s deadline", s->vc.outside,
			 s->vc.first ? "a" : "no");
	if (b->calls.checked)
		check_end(sim(b));
}

static void run(struct bench *b, uint64_t most_steps)
{
	unsigned int thing;
	fixed_t at;

	while (sim(b)->alive) {
		if (!agenda_first(&b->agenda, &thing, &at))
			sim_fail(sim(b), "stall: %u tasks wait, and nothing comes",
				 sim(b)->alive);
		if (sim(b)->step++ > most_steps)
			sim_fail(sim(b), "it does not end");
		sim(b)->real = (uint64_t)at;
		if (thing < b->setup->cpus)
			cpu_event(b, thing);
		else
			task_event(b, (int)(thing - b->setup->cpus));
		if (thing < b->setup->cpus)
			check_cpu(b, thing);
		check_deadlines(b);
		check_timers(b);
	}
	check_left(b);
}

static void bench_init(struct bench *b, const struct program *p,
		       struct mode mode)
{
	const struct setup *s = &p->setup;

	b->setup = s;
	b->rng.state = s->seed;
	b->due_since = NEVER;
	b->due_before = NEVER;
	sim(b)->rng.state = ~s->seed;
	sim(b)->real = 1000000;
	sim(b)->apart = (unsigned int)s->apart;
	sim(b)->verbose = mode.verbose;
	b->calls.checked = mode.checked;
	b->calls.recorded = mode.timed;
	calls_init(&b->calls, s->cpus, p->tasks, s->window, s->skip);
	play_init(&b->play, p);
	b->play.driver = b;
	b->play.wake = wake;
	b->play.done = done;
	agenda_init(&b->agenda, s->cpus + p->tasks);
	b->core = zalloc(s->cpus, sizeof(*b->core));
	b->body = zalloc(p->tasks, sizeof(*b->body));
	for (uint32_t k = 0; k < s->cpus; k++)
		b->core[k] = (struct core) {
			.ready = { NONE, NONE },
			.speed = 1000 - (unsigned int)up_to(b, s->slow),
			.timer = NEVER, .poke = NEVER, .others_at = NEVER,
			.tick = NEVER,
		};
}

static void bench_free(struct bench *b)
{
	calls_free(&b->calls);
	play_free(&b->play);
	agenda_free(&b->agenda);
	free(b->core);
	free(b->body);
}

static void begin(struct bench *b, const struct program *p)
{
	for (unsigned int t = 0; t < p->tasks; t++) {
		if (p->task[t].forked)
			continue;
		call(&b->calls, CALL_INIT, (int)t, p->task[t].percent);
		sim(b)->alive++;
		join(b, (int)t);
	}
}

bool machine_run(const struct program *p, struct results *r, struct mode mode,
		 struct counts *counts, char why[FAILURE_LENGTH])
{
	/* Enough for each operation to wait for a window now and then. */
	uint64_t most_steps = 100000 + 1000 * (uint64_t)program_ops(p) +
			      5000 * (uint64_t)p->setup.cpus;
	struct bench *b = zalloc(1, sizeof(*b));
	volatile bool good = false;

	b->results = r;
	b->counts = counts;
	bench_init(b, p, mode);
	if (!setjmp(sim(b)->failed)) {
		begin(b, p);
		run(b, most_steps);
		good = true;
	} else {
		snprintf(why, FAILURE_LENGTH, "%s", failure);
	}
	counts->virtual_ns += gvt(b);
	counts->calls += b->calls.made;
	if (good && mode.timed)
		counts->calls_ns += calls_repeat(&b->calls);
	bench_free(b);
	free(b);
	return good;
}
