// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "model.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t lvt(const struct model *m, int cpu)
{
	return fixed_ns(m->cpu[cpu].lvt);
}

unsigned int model_active(const struct model *m)
{
	unsigned int active = 0;

	for (unsigned int k = 0; k < m->cpus; k++)
		active += m->cpu[k].tasks > 0;
	return active;
}

/* R5 while a CPU is active. */
static void scan(struct model *m)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int k = 0; k < m->cpus; k++)
		if (m->cpu[k].tasks && lvt(m, (int)k) < least)
			least = lvt(m, (int)k);
	if (least != UINT64_MAX)
		m->gvt = later(m->gvt, least);
}

/* R5 in general. */
uint64_t model_gvt_at(const struct model *m, uint64_t real)
{
	if (model_active(m) || real <= m->idle_since)
		return m->gvt;
	return m->gvt + real - m->idle_since;
}

static void follow(struct model *m, uint64_t real)
{
	m->gvt = model_gvt_at(m, real);
	if (!model_active(m))
		m->idle_since = later(m->idle_since, real);
}

void model_advance(struct model *m, uint64_t real)
{
	const struct model_task *first;

	follow(m, real);
	if (!m->skip || m->outside || model_active(m))
		return;
	first = model_first(m, false);
	if (first)
		m->gvt = later(m->gvt, first->when);
}

void model_task_init(struct model_task *t, uint32_t percent, uint64_t ready)
{
	*t = (struct model_task) {
		.percent = percent,
		.cpu = -1,
		.seen = ready,
		.ready = ready,
		.blocked_at = ready,
	};
}

static void note_skew(struct model *m, int cpu)
{
	if (lvt(m, cpu) > m->gvt)
		m->skew = later(m->skew, lvt(m, cpu) - m->gvt);
}

static void charge(struct model *m, struct model_task *t, fixed_t v)
{
	t->charged += v;
	m->cpu[t->cpu].lvt += v;
	scan(m);
	note_skew(m, t->cpu);
}

void model_charge(struct model *m, struct model_task *t, uint64_t real_ns)
{
	fixed_t v = model_virtual(real_ns, t->percent);
	fixed_t paid = v < t->credit ? v : t->credit;

	t->ran += real_ns;
	t->credit -= paid;
	charge(m, t, v - paid);
}

void model_move(struct model *m, struct model_task *t, uint64_t ns)
{
	charge(m, t, fixed_from(ns));
}

uint64_t model_now(const struct model *m, struct model_task *t)
{
	if (t->cpu >= 0)
		t->seen = later(t->seen, lvt(m, t->cpu));
	return t->seen;
}

/* A CPU that loses its last task is active until then, whoever left later. */
static void lose_task(struct model *m, int cpu, uint64_t real)
{
	if (!--m->cpu[cpu].tasks)
		m->idle_since = later(m->idle_since, real);
	scan(m);
}

static void leave_cpu(struct model *m, struct model_task *t, uint64_t real)
{
	model_now(m, t);
	lose_task(m, t->cpu, real);
	t->cpu = -1;
}

void model_join(struct model *m, struct model_task *t, unsigned int cpu,
		uint64_t real)
{
	struct model_cpu *c = &m->cpu[cpu];
	int from = t->cpu;

	if (from == (int)cpu)
		return;
	follow(m, real);
	if (from >= 0) {
		model_now(m, t);
		t->ready = lvt(m, from);
	}
	/* R5: it is runnable all the time, so GVT stays where it is. */
	if (!c->tasks && fixed_ns(c->lvt) < later(t->ready, m->gvt))
		c->lvt = fixed_from(later(t->ready, m->gvt));
	c->tasks++;
	t->cpu = (int)cpu;
	scan(m);
	note_skew(m, t->cpu);
	if (from >= 0)
		lose_task(m, from, real);
}

void model_block(struct model *m, struct model_task *t, uint64_t real)
{
	leave_cpu(m, t, real);
	t->blocked_at = t->seen;
	t->blocked_real = real;
	t->ready = t->seen;
}

void model_leave(struct model *m, struct model_task *t, uint64_t real)
{
	t->queued = false;
	if (t->cpu >= 0)
		leave_cpu(m, t, real);
}

void model_ready_by(const struct model *m, struct model_task *t,
		    const struct model_task *waker)
{
	t->ready = later(t->blocked_at, lvt(m, waker->cpu));
}

bool model_ready_outside(struct model *m, struct model_task *t, uint64_t real)
{
	uint64_t waited = real > t->blocked_real ? real - t->blocked_real : 0;

	model_advance(m, real);
	t->ready = later(t->blocked_at + waited, m->gvt);
	return t->ready > m->gvt;
}

void model_arm(struct model *m, struct model_task *t, uint64_t when)
{
	t->queued = true;
	t->release = false;
	t->when = when;
	t->order = m->order++;
}

void model_gate(struct model *m, struct model_task *t, uint64_t when)
{
	model_arm(m, t, when);
	t->release = true;
}

static bool is_before(const struct model_task *a, const struct model_task *b)
{
	return a->when < b->when || (a->when == b->when && a->order < b->order);
}

/* The first deadline, or the first release of a gated task. */
struct model_task *model_first(const struct model *m, bool release)
{
	struct model_task *first = NULL;

	for (unsigned int i = 0; i < m->tasks; i++) {
		struct model_task *t = &m->task[i];

		if (!t->queued || t->release != release)
			continue;
		if (!first || is_before(t, first))
			first = t;
	}
	return first;
}

/* The first deadline or release, if GVT has reached it. */
struct model_task *model_due(const struct model *m)
{
	struct model_task *first = model_first(m, false);
	struct model_task *release = model_first(m, true);

	if (!first || (release && is_before(release, first)))
		first = release;
	return first && first->when <= m->gvt ? first : NULL;
}

bool model_ahead(const struct model *m, unsigned int cpu)
{
	return lvt(m, (int)cpu) > m->gvt + m->window;
}
