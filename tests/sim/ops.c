// SPDX-License-Identifier: GPL-2.0
/* Each call of vclock.c next to the model's: both have to agree. */
#include <errno.h>

#include "sim.h"
#include "spend.h"

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
	expect(s, vclock_reached(&s->vc), s->m.gvt);
	if (vclock_reached(&s->vc) < s->gvt_before)
		sim_fail(s, "GVT fell from %llu to %llu",
			 (unsigned long long)s->gvt_before,
			 (unsigned long long)vclock_reached(&s->vc));
	s->gvt_before = vclock_reached(&s->vc);
}

static void expect_task(struct sim *s, int t)
{
	const struct vclock_task *v = &s->task[t].v;
	const struct model_task *m = model_of(s, t);

	expect(s, vclock_fine(v), m->percent);
	expect(s, v->lowest, m->lowest);
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
	if (!s->apart || !rng_chance(&s->rng, 5))
		return s->real;
	return s->real - rng_below(&s->rng, s->apart);
}

void op_task_init(struct sim *s, int t, uint32_t percent, uint64_t ready)
{
	vclock_task_init(&s->task[t].v, percent, ready);
	model_task_init(model_of(s, t), percent * VCLOCK_FINE, ready);
	expect_task(s, t);
}

void op_percent(struct sim *s, int t, uint32_t percent)
{
	bool valid = percent >= 1 && percent <= 100000;

	expect(s, vclock_set_percent(&s->task[t].v, percent),
	       valid ? 0 : -EINVAL);
	if (valid)
		model_of(s, t)->percent = percent * VCLOCK_FINE;
	expect_task(s, t);
}

static void op_fine(struct sim *s, int t, uint32_t thousandths)
{
	bool valid = thousandths >= 1000 && thousandths <= 100000000;

	expect(s, vclock_set_fine(&s->task[t].v, thousandths),
	       valid ? 0 : -EINVAL);
	if (valid)
		model_of(s, t)->percent = thousandths;
	expect_task(s, t);
}

/* R1: task and CPU move alike. R10: not at all as long as there is credit. */
static void expect_charge(struct sim *s, int t, const struct task *before,
			  fixed_t lvt, uint64_t returned)
{
	const struct vclock_task *v = &s->task[t].v;
	fixed_t moved = fixed(s->vcpu[v->cpu].lvt) - lvt;

	expect_task(s, t);
	expect_lvt(s, (unsigned int)v->cpu);
	expect_gvt(s);
	expect(s, returned, v->charged.ns - before->v.charged.ns);
	if (moved != fixed(v->charged) - fixed(before->v.charged))
		sim_fail(s, "the CPU moved by another time than its task");
	if (model_of(s, t)->credit && moved)
		sim_fail(s, "time moved while there was credit");
}

void op_charge(struct sim *s, int t, uint64_t real_ns)
{
	const struct task before = s->task[t];
	fixed_t lvt = fixed(s->vcpu[before.v.cpu].lvt);
	uint64_t returned = vclock_charge(&s->vc, &s->task[t].v, real_ns);

	model_charge(&s->m, model_of(s, t), real_ns);
	expect_charge(s, t, &before, lvt, returned);
}

/*
 * R2 after the fact: one charge, during which the percent changed at values
 * of a counter that the task says, and that need not be true. The model knows
 * no counter: it is charged for one part after the other.
 */
void op_stretch(struct sim *s, int t, uint64_t real_ns)
{
	const struct task before = s->task[t];
	struct vclock_task *v = &s->task[t].v;
	fixed_t lvt = fixed(s->vcpu[v->cpu].lvt);
	uint64_t ticks = rng_scale(&s->rng, 4 * real_ns + 1);
	uint64_t from = rng_below(&s->rng, 1ULL << 60), at = 0, left = real_ns;
	uint64_t n = rng_below(&s->rng, 8), returned = 0;
	struct vclock_stretch stretch = {
		.from = from, .to = from + ticks, .ns = real_ns,
	};

	while (n--) {
		uint64_t to = rng_below(&s->rng, ticks + ticks / 4 + 1);
		uint64_t own = rng_chance(&s->rng, 30) ?
			rng_scale(&s->rng, ticks) : 0;
		uint64_t rest = ticks - at, part, free;

		returned += vclock_spend(v, &stretch, from + to, own);
		to = to > ticks ? ticks : to < at ? at : to;
		own = own < to - at ? own : to - at;
		part = rest ? (uint64_t)((fixed_t)left * (to - at) / rest) : 0;
		free = rest ? (uint64_t)((fixed_t)left * own / rest) : 0;
		model_charge(&s->m, model_of(s, t), part - free);
		left -= part;
		at = to;
		if (rng_chance(&s->rng, 50))
			op_fine(s, t, (uint32_t)rng_scale(&s->rng, 99999999));
		else
			op_percent(s, t, (uint32_t)rng_scale(&s->rng, 120000));
	}
	returned += vclock_spend(v, &stretch, stretch.to, 0);
	model_charge(&s->m, model_of(s, t), left);
	expect(s, stretch.ns, 0);
	vclock_pass(&s->vc, v, &stretch);
	expect_charge(s, t, &before, lvt, returned);
}

/* The task may go down to a percent without saying so first. */
void op_lowest(struct sim *s, int t, uint32_t percent)
{
	s->task[t].v.lowest = percent;
	model_of(s, t)->lowest = percent;
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

/* Reads the page as a thread does: the counter also ran while the thread did not. */
static uint64_t read_page(struct sim *s, struct vclock_task *v)
{
	uint64_t reading = vclock_floor(&s->vc, v);
	uint64_t ahead = rng_below(&s->rng, VCLOCK_AHEAD_MAX + 1);

	if (s->vcpu[v->cpu].lvt.ns + ahead > reading)
		reading = s->vcpu[v->cpu].lvt.ns + ahead;
	if (s->vc.ordered) {
		if (s->latest > reading)
			reading = s->latest;
		s->latest = reading;
	}
	vclock_take_shown(&s->vc, v, reading);
	return reading;
}

/*
 * R9: a reading is ahead by at most a window, the lead of a page, and the time for
 * which a host stopped a CPU.
 */
static void expect_bounded(struct sim *s, int t, uint64_t reading)
{
	uint64_t most = vclock_reached(&s->vc) + s->vc.window +
			VCLOCK_AHEAD_MAX + s->stall;

	if (reading > most && reading > s->read)
		sim_fail(s, "task %d reads %llu, %llu beyond its bound", t,
			 (unsigned long long)reading,
			 (unsigned long long)(reading - most));
}

/*
 * R9: no reading is earlier than one that happened before. The model knows no
 * readings and is compared after each step, which shows that they change nothing.
 */
void op_read(struct sim *s, int t)
{
	struct task *task = &s->task[t];
	struct cpu *c = &s->cpu[task->v.cpu];
	bool page = rng_chance(&s->rng, 50);
	uint64_t reading = page ? read_page(s, &task->v) :
				  vclock_read(&s->vc, &task->v);

	s->readings++;
	if (reading < s->vcpu[task->v.cpu].lvt.ns)
		sim_fail(s, "task %d reads %llu, but its CPU is later", t,
			 (unsigned long long)reading);
	if (reading < task->read || reading < c->read ||
	    (s->vc.ordered && reading < s->read))
		sim_fail(s, "task %d reads %llu after %llu, %llu on its CPU and %llu on any",
			 t, (unsigned long long)reading,
			 (unsigned long long)task->read,
			 (unsigned long long)c->read,
			 (unsigned long long)s->read);
	expect_bounded(s, t, reading);
	task->read = reading;
	c->read = reading;
	s->read = reading > s->read ? reading : s->read;
}

/*
 * R9: the start of a sleep of @t, which lasts ns by its readings, too. Neither another
 * deadline nor a signal without a handler makes it shorter.
 */
uint64_t op_wait(struct sim *s, int t, uint64_t ns)
{
	struct vclock_task *v = &s->task[t].v;
	uint64_t when = vclock_wait_from(&s->vc, v) + ns;

	vclock_wait_until(v, when);
	if (rng_chance(&s->rng, 25)) {
		vclock_wait_until(v, VCLOCK_NEVER);
		vclock_wait_end(v, VCLOCK_NEVER);
	}
	if (rng_chance(&s->rng, 25)) {
		vclock_wait_end(v, when);
		vclock_wait_until(v, when);
	}
	s->task[t].promised = v->shown + ns;
	return when;
}

/* R9: a deadline wakes @t, and by its readings the sleep has the full length. */
void op_ready_at(struct sim *s, int t, uint64_t when)
{
	struct vclock_task *v = &s->task[t].v;
	struct model_task *m = model_of(s, t);

	v->ready = when > v->blocked_at ? when : v->blocked_at;
	m->ready = when > m->blocked_at ? when : m->blocked_at;
	expect_task(s, t);
	s->task[t].due = s->task[t].promised;
	s->task[t].promised = 0;
}

static void expect_slept(struct sim *s, int t)
{
	struct task *task = &s->task[t];

	if (vclock_floor(&s->vc, &task->v) < task->due)
		sim_fail(s, "task %d reads %llu after a sleep until %llu", t,
			 (unsigned long long)vclock_floor(&s->vc, &task->v),
			 (unsigned long long)task->due);
	task->due = 0;
}

void op_join(struct sim *s, int t, unsigned int cpu)
{
	uint64_t real = op_real(s);

	vclock_join(&s->vc, &s->task[t].v, cpu, real);
	model_join(&s->m, model_of(s, t), cpu, real);
	expect_slept(s, t);
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
	int cpu = s->task[waker].v.cpu;

	s->task[t].promised = 0;
	vclock_ready_by(&s->vc, &s->task[t].v, &s->task[waker].v);
	model_ready_by(&s->m, model_of(s, t), model_of(s, waker));
	vclock_shown_by(&s->vc, &s->task[t].v, (unsigned int)cpu);
	if (s->task[t].read < s->cpu[cpu].read)
		s->task[t].read = s->cpu[cpu].read;
	expect_task(s, t);
}

bool op_ready_outside(struct sim *s, int t)
{
	uint64_t real = op_real(s);
	bool wait = vclock_ready_outside(&s->vc, &s->task[t].v, real);

	s->task[t].promised = 0;
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
	first = model_due(&s->m);
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

/* R6: @t, which is ahead, waits for GVT to come within half a window of its LVT. */
void op_gate(struct sim *s, int t)
{
	uint64_t lvt = fixed_ns(s->m.cpu[s->task[t].v.cpu].lvt);
	uint64_t when = lvt - s->m.window / 2;

	vclock_gate(&s->vc, &s->task[t].v);
	model_gate(&s->m, model_of(s, t), when);
	expect(s, vclock_armed(&s->task[t].v.deadline), true);
	expect(s, s->task[t].v.deadline.when, when);
	if (when <= s->m.gvt)
		sim_fail(s, "released before it stopped");
}

/* R6: one that is gated and has come to another CPU waits for no more than that. */
void op_regate(struct sim *s, int t)
{
	uint64_t lvt = fixed_ns(s->m.cpu[s->task[t].v.cpu].lvt);
	uint64_t when = lvt - min(lvt, s->m.window / 2);
	bool sooner = when < model_of(s, t)->when;

	expect(s, vclock_regate(&s->vc, &s->task[t].v), sooner);
	if (sooner)
		model_gate(&s->m, model_of(s, t), when);
}

/* When a timer comes, in relation to the time at which it should. */
enum due { EARLY, RIGHT, LATE };

/*
 * By the model's own arithmetic, is @need reached after @ns, and not reached a virtual
 * ns earlier? Where changes of percent may come, a timer looks again: after 10 us at the
 * earliest, and not for less than @slack.
 */
static enum due when_due(const struct model_task *m, uint64_t ns, fixed_t need,
			 fixed_t slack)
{
	bool lower = m->lowest && m->lowest < m->percent;
	uint64_t grain = (m->percent + 99999) / 100000, before;
	fixed_t soon = need > slack ? need : slack;

	if (model_virtual(ns, m->percent) < need &&
	    (!lower || ns < 10000 || model_virtual(ns, m->lowest) < soon))
		return EARLY;
	if (ns <= grain)
		return RIGHT;
	before = ns - grain - 1;
	if (model_virtual(before, m->percent) >= need ||
	    (lower && before >= 10000 && model_virtual(before, m->lowest) >= soon))
		return LATE;
	return RIGHT;
}

/* The next time at which the task may have to stop or to release another one. */
static uint64_t next_stop(const struct sim *s, uint64_t lvt)
{
	const struct model_task *release = model_first(&s->m, true);
	uint64_t end = s->m.gvt + s->m.window + 1, next;

	if (s->m.cpus == 1)
		return NEVER;
	next = lvt < end ? end : lvt + s->m.window;
	if (release && release->when > lvt && release->when < next)
		next = release->when;
	return next;
}

/* R7: a timer comes for the deadline or the stop, and is late for neither. */
static void expect_timer(struct sim *s, const struct model_task *m, uint64_t ns)
{
	const struct model_task *first = model_first(&s->m, false);
	fixed_t lvt = s->m.cpu[m->cpu].lvt, debt = m->credit - lvt;
	uint64_t deadline = NEVER, stop = next_stop(s, fixed_ns(lvt));
	enum due a = EARLY, b = EARLY;

	if (first && first->when > fixed_ns(lvt))
		deadline = first->when;
	if (deadline == NEVER && stop == NEVER) {
		expect(s, ns, NEVER);
		return;
	}
	if (deadline != NEVER)
		a = when_due(m, ns, fixed_from(deadline) + debt, 0);
	if (stop != NEVER) {
		b = when_due(m, ns, fixed_from(stop) + debt,
			     fixed_from(s->m.window / 2));
		/* For a stop, it waits no longer than 10 ms. */
		if (b == EARLY && ns >= 10000000)
			b = ns > 10000000 ? LATE : RIGHT;
	}
	if (a == LATE || b == LATE || (a == EARLY && b == EARLY))
		sim_fail(s, "the timer comes %s for a deadline at %llu and a stop at %llu",
			 a == LATE || b == LATE ? "late" : "early",
			 (unsigned long long)deadline, (unsigned long long)stop);
}

/* R7: how long the CPU of the running task, or an idle CPU (NONE), needs no timer. */
uint64_t op_horizon(struct sim *s, int t)
{
	const struct model_task *first = model_first(&s->m, false);
	const struct model_task *m = t == NONE ? NULL : model_of(s, t);
	uint64_t ns = vclock_horizon(&s->vc, m ? &s->task[t].v : NULL);

	if (model_due(&s->m))
		expect(s, ns, 0);
	else if (m)
		expect_timer(s, m, ns);
	else
		expect(s, ns, first && !model_active(&s->m) ?
			      first->when - s->m.gvt : NEVER);
	return ns;
}

void op_outside(struct sim *s, int by)
{
	s->vc.outside = (unsigned int)((int)s->vc.outside + by);
	s->m.outside = (unsigned int)((int)s->m.outside + by);
}
