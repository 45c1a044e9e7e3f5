// SPDX-License-Identifier: GPL-2.0
/* Each call of vclock.c next to the model's: both have to agree. */
#include <errno.h>

#include "sim.h"

#define expect(s, got, want)						\
	do {								\
		uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want); \
									\
		if (got_ != want_)					\
			sim_fail(s, "%s: " #got " is %llu, not %llu",	\
				 __func__, (unsigned long long)got_,	\
				 (unsigned long long)want_);		\
	} while (0)

static fixed_t fixed(struct vclock_time v)
{
	return fixed_from(v.ns) + v.frac;
}

static void expect_lvt(struct sim *s, unsigned int cpu)
{
	expect(s, s->vcpu[cpu].lvt.ns, fixed_ns(s->m.cpu[cpu].lvt));
	expect(s, s->vcpu[cpu].lvt.frac, (uint32_t)s->m.cpu[cpu].lvt);
	expect(s, s->vcpu[cpu].tasks, s->m.cpu[cpu].tasks);
}

/* R5: what it is, and that it never falls. */
static void expect_gvt(struct sim *s)
{
	s->ops++;
	expect(s, s->vc.gvt, s->m.gvt);
	if (s->vc.gvt < s->gvt_before)
		sim_fail(s, "GVT fell from %llu to %llu",
			 (unsigned long long)s->gvt_before,
			 (unsigned long long)s->vc.gvt);
	s->gvt_before = s->vc.gvt;
}

static void expect_task(struct sim *s, int t)
{
	const struct vclock_task *v = &s->task[t].v;
	const struct model_task *m = model_of(s, t);

	expect(s, v->percent, m->percent);
	expect(s, v->cpu, m->cpu);
	expect(s, v->ready, m->ready);
	expect(s, v->blocked_at, m->blocked_at);
	expect(s, v->ran, m->ran);
	if (fixed(v->charged) != m->charged)
		sim_fail(s, "task %d was charged %llu, not %llu", t,
			 (unsigned long long)v->charged.ns,
			 (unsigned long long)fixed_ns(m->charged));
	if (fixed(v->credit) != m->credit)
		sim_fail(s, "task %d has credit %llu, not %llu", t,
			 (unsigned long long)v->credit.ns,
			 (unsigned long long)fixed_ns(m->credit));
}

/* Real time as some CPU knows it: their clocks differ a little. */
uint64_t op_real(struct sim *s)
{
	uint64_t off = rng_chance(&s->rng, 5) ? rng_below(&s->rng, 100) : 0;

	return s->real - off;
}

void op_task_init(struct sim *s, int t, uint32_t percent, uint64_t ready)
{
	vclock_task_init(&s->task[t].v, percent, ready);
	model_task_init(model_of(s, t), percent, ready);
	expect_task(s, t);
}

void op_percent(struct sim *s, int t, uint32_t percent)
{
	bool valid = percent >= 1 && percent <= 100000;

	expect(s, vclock_set_percent(&s->task[t].v, percent),
	       valid ? 0 : -EINVAL);
	if (valid)
		model_of(s, t)->percent = percent;
	expect_task(s, t);
}

/* R1: task and CPU move alike. R10: not at all as long as there is credit. */
void op_charge(struct sim *s, int t, uint64_t real_ns)
{
	struct vclock_task *v = &s->task[t].v;
	struct model_task *m = model_of(s, t);
	unsigned int cpu = (unsigned int)v->cpu;
	fixed_t charged = fixed(v->charged), lvt = fixed(s->vcpu[cpu].lvt);
	uint64_t whole = v->charged.ns, returned;
	fixed_t moved;

	returned = vclock_charge(&s->vc, v, real_ns);
	model_charge(&s->m, m, real_ns);
	expect_task(s, t);
	expect_lvt(s, cpu);
	expect_gvt(s);
	expect(s, returned, v->charged.ns - whole);
	moved = fixed(s->vcpu[cpu].lvt) - lvt;
	if (moved != fixed(v->charged) - charged)
		sim_fail(s, "the CPU moved by another time than its task");
	if (m->credit && moved)
		sim_fail(s, "time moved while there was credit");
}

void op_move(struct sim *s, int t, uint64_t ns)
{
	struct vclock_task *v = &s->task[t].v;

	expect(s, vclock_move(&s->vc, v, ns), ns);
	model_move(&s->m, model_of(s, t), ns);
	expect_task(s, t);
	expect_lvt(s, (unsigned int)v->cpu);
	expect_gvt(s);
}

void op_credit(struct sim *s, int t, uint64_t ns)
{
	vclock_credit(&s->task[t].v, ns);
	model_of(s, t)->credit += fixed_from(ns);
	expect_task(s, t);
}

void op_refund(struct sim *s, int t, uint64_t real_ns)
{
	struct model_task *m = model_of(s, t);

	vclock_refund(&s->task[t].v, real_ns);
	m->ran -= m->ran < real_ns ? m->ran : real_ns;
	m->credit += model_virtual(real_ns, m->percent);
	expect_task(s, t);
}

/* R9: never back, whatever happened since the last time. */
uint64_t op_now(struct sim *s, int t)
{
	uint64_t now = vclock_now(&s->vc, &s->task[t].v);

	expect(s, now, model_now(&s->m, model_of(s, t)));
	if (now < s->task[t].told)
		sim_fail(s, "task %d saw %llu, then %llu", t,
			 (unsigned long long)s->task[t].told,
			 (unsigned long long)now);
	s->task[t].told = now;
	return now;
}

void op_join(struct sim *s, int t, unsigned int cpu)
{
	uint64_t real = op_real(s);

	vclock_join(&s->vc, &s->task[t].v, cpu, real);
	model_join(&s->m, model_of(s, t), cpu, real);
	expect_task(s, t);
	expect_lvt(s, cpu);
	expect_gvt(s);
}

void op_block(struct sim *s, int t)
{
	uint64_t real = op_real(s);
	unsigned int cpu = (unsigned int)s->task[t].v.cpu;

	vclock_block(&s->vc, &s->task[t].v, real);
	model_block(&s->m, model_of(s, t), real);
	expect_task(s, t);
	expect_lvt(s, cpu);
	expect_gvt(s);
}

void op_leave(struct sim *s, int t)
{
	uint64_t real = op_real(s);

	vclock_leave(&s->vc, &s->task[t].v, real);
	model_leave(&s->m, model_of(s, t), real);
	expect_task(s, t);
	expect(s, vclock_armed(&s->task[t].v.deadline), false);
	expect_gvt(s);
}

void op_ready_by(struct sim *s, int t, int waker)
{
	vclock_ready_by(&s->vc, &s->task[t].v, &s->task[waker].v);
	model_ready_by(&s->m, model_of(s, t), model_of(s, waker));
	expect_task(s, t);
}

bool op_ready_outside(struct sim *s, int t)
{
	uint64_t real = op_real(s);
	bool wait = vclock_ready_outside(&s->vc, &s->task[t].v, real);

	expect(s, wait, model_ready_outside(&s->m, model_of(s, t), real));
	expect_task(s, t);
	expect_gvt(s);
	return wait;
}

void op_advance(struct sim *s)
{
	uint64_t real = op_real(s);

	expect(s, vclock_gvt(&s->vc, real), model_gvt_at(&s->m, real));
	vclock_advance(&s->vc, real);
	model_advance(&s->m, real);
	expect_gvt(s);
}

void op_arm(struct sim *s, int t, uint64_t when)
{
	vclock_arm(&s->vc, &s->task[t].v.deadline, when);
	model_arm(&s->m, model_of(s, t), when);
	expect(s, vclock_armed(&s->task[t].v.deadline), true);
}

void op_disarm(struct sim *s, int t)
{
	vclock_disarm(&s->vc, &s->task[t].v.deadline);
	model_of(s, t)->queued = false;
	expect(s, vclock_armed(&s->task[t].v.deadline), false);
}

/* R7: the task whose deadline fires now, or NONE. None early, none lost. */
int op_expire(struct sim *s)
{
	uint64_t real = op_real(s);
	struct vclock_deadline *d = vclock_expire(&s->vc, real);
	struct model_task *first;
	int t;

	model_advance(&s->m, real);
	expect_gvt(s);
	first = model_first(&s->m);
	if (first && first->when > s->m.gvt)
		first = NULL;
	if (!first) {
		if (d)
			sim_fail(s, "a deadline at %llu fired at GVT %llu",
				 (unsigned long long)d->when,
				 (unsigned long long)s->m.gvt);
		return NONE;
	}
	t = (int)(first - s->m.task);
	if (d != &s->task[t].v.deadline)
		sim_fail(s, "task %d's deadline at %llu is first, %s at %llu fired",
			 t, (unsigned long long)first->when,
			 d ? "one" : "none",
			 (unsigned long long)(d ? d->when : s->m.gvt));
	expect(s, d->when, first->when);
	expect(s, vclock_armed(d), false);
	first->queued = false;
	s->fired++;
	return t;
}

bool op_ahead(struct sim *s, int t)
{
	bool ahead = vclock_ahead(&s->vc, &s->task[t].v);

	expect(s, ahead, model_ahead(&s->m, (unsigned int)s->task[t].v.cpu));
	return ahead;
}

/* R6: only for one that is ahead. Half a window before its LVT. */
uint64_t op_release_time(struct sim *s, int t)
{
	uint64_t when = vclock_release_time(&s->vc, &s->task[t].v);
	uint64_t lvt = fixed_ns(s->m.cpu[s->task[t].v.cpu].lvt);

	expect(s, when, lvt - s->m.window / 2);
	if (when <= s->m.gvt)
		sim_fail(s, "released before it stopped");
	return when;
}

/*
 * R7: by the model's own arithmetic, is the target reached after that long,
 * and not reached a virtual ns earlier? NONE: for an idle CPU.
 */
uint64_t op_horizon(struct sim *s, int t)
{
	const struct model_task *first = model_first(&s->m);
	const struct model_task *m = t == NONE ? NULL : model_of(s, t);
	uint64_t ns = vclock_horizon(&s->vc, m ? &s->task[t].v : NULL);
	unsigned int active = model_active(&s->m);
	uint64_t target = NEVER, grain;
	fixed_t lvt, need;

	if (first && first->when <= s->m.gvt) {
		expect(s, ns, 0);
		return ns;
	}
	if (!m) {
		expect(s, ns, first && !active ? first->when - s->m.gvt : NEVER);
		return ns;
	}
	lvt = s->m.cpu[m->cpu].lvt;
	if (first && first->when > fixed_ns(lvt))
		target = first->when;
	if (active > 1 && fixed_ns(lvt) <= s->m.gvt + s->m.window &&
	    s->m.gvt + s->m.window + 1 < target)
		target = s->m.gvt + s->m.window + 1;
	if (target == NEVER) {
		expect(s, ns, NEVER);
		return ns;
	}
	need = fixed_from(target) - lvt + m->credit;
	grain = (m->percent + 99) / 100;
	if (model_virtual(ns, m->percent) < need)
		sim_fail(s, "the timer comes %llu ns too early for %llu",
			 (unsigned long long)fixed_ns(need),
			 (unsigned long long)target);
	if (ns > grain && model_virtual(ns - grain - 1, m->percent) >= need)
		sim_fail(s, "the timer comes too late for %llu",
			 (unsigned long long)target);
	return ns;
}

void op_outside(struct sim *s, int by)
{
	s->vc.outside = (unsigned int)((int)s->vc.outside + by);
	s->m.outside = (unsigned int)((int)s->m.outside + by);
}
