// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stddef.h>
#include <time.h>

#include "calls.h"
#include "memory.h"

static void start(struct calls *c, bool skip)
{
	struct sim *s = &c->s;

	vclock_init(&s->vc, &s->memory, c->window, s->real);
	s->vc.skip = skip;
}

void calls_init(struct calls *c, unsigned int cpus, unsigned int tasks,
		uint64_t window, bool skip)
{
	struct sim *s = &c->s;

	s->cpus = cpus;
	s->tasks = tasks;
	sim_alloc(s);
	c->window = window;
	start(c, skip);
	s->m.window = window;
	s->m.idle_since = s->real;
	s->m.cpus = cpus;
	s->m.tasks = tasks;
	s->m.skip = skip;
}

void calls_free(struct calls *c)
{
	sim_free(&c->s);
	free(c->record);
}

static uint64_t task_of(const struct sim *s, const struct vclock_deadline *d)
{
	size_t offset;

	if (!d)
		return NEVER;
	offset = (size_t)((const char *)d - (const char *)s->task);
	return offset / sizeof(*s->task);
}

/* As the module calls it. */
static uint64_t make(struct sim *s, const struct call *c)
{
	struct vclock_task *v = c->task == NONE ? NULL : &s->task[c->task].v;
	const struct vclock_task *other;
	struct vclock *vc = &s->vc;

	switch (c->kind) {
	case CALL_INIT:
		vclock_task_init(v, (u32)c->arg, 0);
		return 0;
	case CALL_FORK:
		other = &s->task[c->arg].v;
		vclock_task_init(v, other->percent, s->vcpu[other->cpu].lvt.ns);
		return 0;
	case CALL_PERCENT:
		return (uint64_t)vclock_set_percent(v, (u32)c->arg);
	case CALL_CHARGE:
		return vclock_charge(vc, v, c->arg);
	case CALL_NOW:
		return vclock_now(vc, v);
	case CALL_JOIN:
		vclock_join(vc, v, (unsigned int)c->arg, c->real);
		return 0;
	case CALL_BLOCK:
		vclock_block(vc, v, c->real);
		return 0;
	case CALL_LEAVE:
		vclock_leave(vc, v, c->real);
		return 0;
	case CALL_READY_BY:
		vclock_ready_by(vc, v, &s->task[c->arg].v);
		return 0;
	case CALL_READY_AT:
		assert(v);
		v->ready = c->arg;
		return 0;
	case CALL_READY_OUTSIDE:
		return vclock_ready_outside(vc, v, c->real);
	case CALL_ADVANCE:
		vclock_advance(vc, c->real);
		return 0;
	case CALL_ARM:
		vclock_arm(vc, &v->deadline, c->arg);
		return 0;
	case CALL_DISARM:
		vclock_disarm(vc, &v->deadline);
		return 0;
	case CALL_EXPIRE:
		return task_of(s, vclock_expire(vc, c->real));
	case CALL_AHEAD:
		assert(v);
		return vclock_ahead(vc, v);
	case CALL_GATE:
		vclock_gate(vc, v);
		return 0;
	case CALL_HORIZON:
		return vclock_horizon(vc, v);
	default:
		vc->outside += c->arg ? 1 : -1U;
		return 0;
	}
}

/* The same next to the model's. */
static uint64_t check(struct sim *s, const struct call *c)
{
	const struct vclock_task *other;
	int t = c->task;

	switch (c->kind) {
	case CALL_INIT:
		op_task_init(s, t, (uint32_t)c->arg, 0);
		return 0;
	case CALL_FORK:
		other = &s->task[c->arg].v;
		op_task_init(s, t, other->percent,
			     s->vcpu[other->cpu].lvt.ns);
		return 0;
	case CALL_PERCENT:
		op_percent(s, t, (uint32_t)c->arg);
		return 0;
	case CALL_CHARGE:
		op_charge(s, t, c->arg);
		return 0;
	case CALL_NOW:
		return op_now(s, t);
	case CALL_JOIN:
		op_join(s, t, (unsigned int)c->arg);
		return 0;
	case CALL_BLOCK:
		op_block(s, t);
		return 0;
	case CALL_LEAVE:
		op_leave(s, t);
		return 0;
	case CALL_READY_BY:
		op_ready_by(s, t, (int)c->arg);
		return 0;
	case CALL_READY_AT:
		s->task[t].v.ready = c->arg;
		model_of(s, t)->ready = c->arg;
		return 0;
	case CALL_READY_OUTSIDE:
		return op_ready_outside(s, t);
	case CALL_ADVANCE:
		op_advance(s);
		return 0;
	case CALL_ARM:
		op_arm(s, t, c->arg);
		return 0;
	case CALL_DISARM:
		op_disarm(s, t);
		return 0;
	case CALL_EXPIRE:
		t = op_expire(s);
		return t == NONE ? NEVER : (uint64_t)t;
	case CALL_AHEAD:
		return op_ahead(s, t);
	case CALL_GATE:
		op_gate(s, t);
		return 0;
	case CALL_HORIZON:
		return op_horizon(s, t);
	default:
		op_outside(s, c->arg ? 1 : -1);
		return 0;
	}
}

uint64_t call(struct calls *c, enum call_kind kind, int task, uint64_t arg)
{
	struct call one = { kind, task, arg, c->s.real };

	if (c->recorded) {
		if (c->made == c->room) {
			c->room = c->room ? 2 * c->room : 1024;
			c->record = again(c->record, c->room,
					  sizeof(*c->record));
		}
		c->record[c->made] = one;
	}
	c->made++;
	return c->checked ? check(&c->s, &one) : make(&c->s, &one);
}

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t calls_repeat(struct calls *c)
{
	uint64_t before;

	c->s.real = c->record[0].real;
	start(c, c->s.vc.skip);
	before = cpu_time();
	for (uint64_t i = 0; i < c->made; i++)
		make(&c->s, &c->record[i]);
	return cpu_time() - before;
}
