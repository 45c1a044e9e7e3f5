// SPDX-License-Identifier: GPL-2.0
/* The rules of virtual time. Each function names the rule that it keeps. */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#endif

#include "vclock.h"

/* Real ns that one charge can hold without overflow: over two years. */
#define CHARGE_MAX	BIT_ULL(56)
/* And at a percent in thousandths: half a day. */
#define CHARGE_MAX_FINE	BIT_ULL(46)
/* Real ns that getting out of the kernel and into it can take, at most. */
#define HAND_OVER_MAX	100000
/*
 * A timer that may come too early, in case that changes of percent are still
 * in a ring, comes again: not sooner than after so many real ns.
 */
#define RECHECK_MIN	10000
/* How far ahead a timer is ever set, in virtual ns: about a quarter hour. */
#define HORIZON_MAX	BIT_ULL(40)

static struct vclock_time time_of(u64 real_ns, const struct vclock_task *t)
{
	struct vclock_time v = { min(real_ns, CHARGE_MAX), 0 };
	u32 factor = 100, percent = t->percent, rem;

	/* The longer a charge, the less it matters. */
	if (t->fine && real_ns <= CHARGE_MAX_FINE) {
		factor *= VCLOCK_FINE;
		percent = vclock_fine(t);
	}
	if (percent == factor)
		return v;
	v.ns = div_u64_rem(v.ns * factor, percent, &rem);
	v.frac = (u32)div_u64((u64)rem << 32, percent);
	return v;
}

static void time_add(struct vclock_time *to, struct vclock_time v)
{
	u64 frac = (u64)to->frac + v.frac;

	to->ns += v.ns + (frac >> 32);
	to->frac = (u32)frac;
}

static struct vclock_time time_less(struct vclock_time a, struct vclock_time b)
{
	return (struct vclock_time) {
		.ns = a.ns - b.ns - (a.frac < b.frac),
		.frac = a.frac - b.frac,
	};
}

/* Pays for @v with what there is of @credit; returns what is left to pay. */
static struct vclock_time pay(struct vclock_time *credit, struct vclock_time v)
{
	struct vclock_time rest = { 0 };

	if (credit->ns < v.ns ||
	    (credit->ns == v.ns && credit->frac < v.frac)) {
		rest = time_less(v, *credit);
		*credit = (struct vclock_time) { 0 };
	} else {
		*credit = time_less(*credit, v);
	}
	return rest;
}

/* --- deadlines: a leftist heap, logarithmic in the worst case --- */

static bool before(const struct vclock_deadline *a,
		   const struct vclock_deadline *b)
{
	return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static u8 rank_of(const struct vclock_deadline *d)
{
	return d ? d->rank : 0;
}

static void swap_children(struct vclock_deadline *d)
{
	struct vclock_deadline *left = d->left;

	d->left = d->right;
	d->right = left;
}

/* Put d's children and rank right; false if the rank was right already. */
static bool restore_rank(struct vclock_deadline *d)
{
	u8 rank;

	if (rank_of(d->left) < rank_of(d->right))
		swap_children(d);
	rank = rank_of(d->right) + 1;
	if (d->rank == rank)
		return false;
	d->rank = rank;
	return true;
}

/* Merges two heaps along their right spines, whose length is logarithmic. */
static struct vclock_deadline *merge(struct vclock_deadline *a,
				     struct vclock_deadline *b)
{
	struct vclock_deadline *root = NULL, *last = NULL;

	while (a && b) {
		struct vclock_deadline *least = before(a, b) ? a : b;

		if (least == a)
			a = a->right;
		else
			b = b->right;
		least->up = last;
		if (last)
			last->right = least;
		else
			root = least;
		last = least;
	}
	if (!last)
		return a ? a : b;
	last->right = a ? a : b;
	if (last->right)
		last->right->up = last;
	for (; last; last = last->up)
		restore_rank(last);
	return root;
}

/* Who reads this without a lock is to see no state in between. */
static void tell_first(struct vclock *vc)
{
	WRITE_ONCE(vc->due, vc->first ? vc->first->when : VCLOCK_NEVER);
}

static void put_in(struct vclock *vc, struct vclock_deadline *d, u64 when)
{
	d->when = when;
	d->seq = vc->seq++;
	d->up = NULL;
	d->left = NULL;
	d->right = NULL;
	d->rank = 1;
	vc->first = merge(vc->first, d);
	vc->first->up = NULL;
}

static void take_out(struct vclock *vc, struct vclock_deadline *d)
{
	struct vclock_deadline *up = d->up, *rest;

	if (!vclock_armed(d))
		return;
	rest = merge(d->left, d->right);
	if (rest)
		rest->up = up;
	if (!up)
		vc->first = rest;
	else if (up->left == d)
		up->left = rest;
	else
		up->right = rest;
	while (up && restore_rank(up))
		up = up->up;
	d->up = NULL;
	d->left = NULL;
	d->right = NULL;
	d->rank = 0;
}

/* Queues d for GVT = when (R7). It must not be queued already. */
void vclock_arm(struct vclock *vc, struct vclock_deadline *d, u64 when)
{
	put_in(vc, d, when);
	tell_first(vc);
}

/* Takes d out of the queue; nothing happens if it is not in it. */
void vclock_disarm(struct vclock *vc, struct vclock_deadline *d)
{
	take_out(vc, d);
	tell_first(vc);
}

/* Queues d for another GVT, or anew. */
void vclock_rearm(struct vclock *vc, struct vclock_deadline *d, u64 when)
{
	take_out(vc, d);
	put_in(vc, d, when);
	tell_first(vc);
}

/* GVT now; while no CPU is active it follows real time (R5). */
u64 vclock_gvt(struct vclock *vc, u64 real)
{
	return gvt_at(&vc->gvt, real);
}

/*
 * Brings GVT up to now; skips idle time if that is wanted (R5). A task
 * on its way from vclock_expire() to vclock_join() counts as one that waits
 * for the outside: time does not skip past it.
 */
void vclock_advance(struct vclock *vc, u64 real)
{
	bool skip = vc->skip && !vc->outside && vc->first;

	gvt_pass_idle(&vc->gvt, real, skip ? vc->first->when : 0);
}

/* Time starts at 0, with no CPU active. */
void vclock_init(struct vclock *vc, const struct vclock_memory *memory,
		 u64 window, u64 real)
{
	unsigned int i;

	*vc = (struct vclock) {
		.window = window,
		.cpus = memory->cpus,
		.cpu = memory->cpu,
		.due = VCLOCK_NEVER,
	};
	gvt_init(&vc->gvt, memory->least, memory->lock, memory->cpus, real);
	for (i = 0; i < vc->cpus; i++) {
		vc->cpu[i] = (struct vclock_cpu) { 0 };
		raw_spin_lock_init(&vc->cpu[i].lock);
	}
}

/* A blocked task that becomes ready at @ready, by fork for instance. */
void vclock_task_init(struct vclock_task *t, u32 percent, u64 ready)
{
	*t = (struct vclock_task) {
		.percent = percent,
		.cpu = -1,
		.seen = ready,
		.shown = ready,
		.ready = ready,
		.blocked_at = ready,
	};
}

/* R2: the caller has charged what ran before. -EINVAL changes nothing. */
int vclock_set_percent(struct vclock_task *t, u32 percent)
{
	if (percent < 1 || percent > VCLOCK_PERCENT_MAX)
		return -EINVAL;
	t->percent = percent;
	t->fine = 0;
	return 0;
}

/* The same in thousandths of a percent. */
int vclock_set_fine(struct vclock_task *t, u32 thousandths)
{
	int err = vclock_set_percent(t, thousandths / VCLOCK_FINE);

	if (!err && t->percent < VCLOCK_PERCENT_MAX)
		t->fine = thousandths % VCLOCK_FINE;
	return err;
}

static void set_lvt(struct vclock_cpu *c, struct vclock_time v)
{
	lockdep_assert_held(&c->lock);

	WRITE_ONCE(c->lvt.ns, v.ns);
	c->lvt.frac = v.frac;
}

static void note_skew(struct vclock *vc, struct vclock_cpu *c)
{
	u64 gvt = vclock_reached(vc);

	lockdep_assert_held(&c->lock);

	if (c->lvt.ns > gvt && c->lvt.ns - gvt > c->skew)
		WRITE_ONCE(c->skew, c->lvt.ns - gvt);
}

/* R6: the worst LVT - GVT that an active CPU ever had. */
u64 vclock_skew(const struct vclock *vc)
{
	u64 skew = 0;
	unsigned int i;

	for (i = 0; i < vc->cpus; i++)
		skew = max(skew, READ_ONCE(vc->cpu[i].skew));
	return skew;
}

static void cpu_charge(struct vclock *vc, int cpu, struct vclock_time v)
{
	struct vclock_cpu *c = &vc->cpu[cpu];
	struct vclock_time lvt;

	raw_spin_lock(&c->lock);
	lvt = c->lvt;
	time_add(&lvt, v);
	set_lvt(c, lvt);
	gvt_raise(&vc->gvt, cpu, lvt.ns);
	note_skew(vc, c);
	raw_spin_unlock(&c->lock);
}

/* How much of the counter's way from @from to @to the task ran. */
static u64 ran_between(const struct vclock_stretch *s, u64 from, u64 to)
{
	u64 ticks = to - from;
	unsigned int i;

	for (i = 0; i < s->holes; i++) {
		u64 begin = max(s->hole[i].from, from);
		u64 end = min(s->hole[i].to, to);

		if (end > begin)
			ticks -= end - begin;
	}
	return ticks;
}

/* Real ns of the next @ticks of a stretch; all of it if it is not longer. */
u64 vclock_part(const struct vclock_stretch *s, u64 ticks)
{
	u64 all;

	if (!ticks)
		return 0;
	all = ran_between(s, s->from, s->to);
	return ticks >= all ? s->ns : mul_u64_u64_div_u64(s->ns, ticks, all);
}

/*
 * A change of percent at @stamp; in order, from { .at = s->from } on. Stamps
 * out of order, or of another stretch, are moved to where they could be.
 */
void vclock_divide(struct vclock_segments *g, const struct vclock_stretch *s,
		   u64 stamp)
{
	u64 end = min(max(stamp, g->at), s->to);

	g->changes++;
	/* Two changes at the same stamp have no segment between them. */
	if (end == g->at)
		return;
	if (g->at == s->from)
		g->first = end;
	if (end - g->at > g->longest.to - g->longest.from)
		g->longest = (struct vclock_hole) { g->at, end };
	g->last = g->at;
	g->at = end;
}

/*
 * R1: the counter goes on while somebody else has the CPU, real time of the
 * task does not. What is missing is not everywhere alike: much of it is one
 * piece, which only a segment can hold that is as long, and a little is what
 * getting out of the kernel and back into it takes, at both ends. @rate is
 * ns per tick times 2^32.
 */
void vclock_cut_holes(struct vclock_stretch *s, struct vclock_segments *g,
		      u64 rate)
{
	u64 real = mul_u64_u64_div_u64(s->to - s->from, rate, BIT_ULL(32));
	u64 missing, front = 0, back = 0, middle = 0;
	u64 first, last;

	if (!g->changes || !rate || real <= s->ns)
		return;
	/* The last segment reaches from the last change to the end. */
	vclock_divide(g, s, s->to);
	first = g->first - s->from;
	last = s->to - g->last;
	missing = mul_u64_u64_div_u64(real - s->ns, BIT_ULL(32), rate);
	missing = min(missing, s->to - s->from);
	if (real - s->ns > HAND_OVER_MAX) {
		middle = min(missing, g->longest.to - g->longest.from);
		missing -= middle;
		s->hole[0] = (struct vclock_hole) { g->longest.to - middle,
						    g->longest.to };
	}
	if (g->longest.from == s->from)
		first -= middle;
	if (g->longest.to == s->to)
		last -= middle;
	front = min(missing / 2, first);
	back = min(missing - front, last);
	front = min(missing - back, first);
	s->hole[1] = (struct vclock_hole) { s->from, s->from + front };
	/* The end may be taken by the long one. */
	real = g->longest.to == s->to ? s->to - middle : s->to;
	s->hole[2] = (struct vclock_hole) { real - back, real };
	s->holes = 3;
}

/* The task, but not yet its CPU. Inline: a charge is paid by who is measured. */
static inline struct vclock_time charge_task(struct vclock_task *t, u64 real_ns)
{
	struct vclock_time v = time_of(real_ns, t);

	t->ran += real_ns;
	if (t->credit.ns || t->credit.frac)
		v = pay(&t->credit, v);
	time_add(&t->charged, v);
	return v;
}

/*
 * R2: charges @t, at its percent of now, what it ran of the stretch up to the
 * counter's value @until, but for the last @own ticks of that, which were
 * Tense's (R13). Returns the virtual ns that this made, R8's measure of it.
 * vclock_pass() has to follow.
 */
u64 vclock_spend(struct vclock_task *t, struct vclock_stretch *s, u64 until,
		 u64 own)
{
	u64 before = t->charged.ns, ns = s->ns, free;

	until = min(max(until, s->from), s->to);
	if (until != s->to)
		ns = vclock_part(s, ran_between(s, s->from, until));
	free = min(ns, vclock_part(s, own));
	s->from = until;
	s->ns -= ns;
	time_add(&s->charged, charge_task(t, ns - free));
	return t->charged.ns - before;
}

/* R1: the CPU of @t moves by what @t was charged of the stretch. */
void vclock_pass(struct vclock *vc, struct vclock_task *t,
		 const struct vclock_stretch *s)
{
	cpu_charge(vc, t->cpu, s->charged);
}

/*
 * R1: @t, which is runnable, ran for @real_ns since the last charge. Returns
 * the virtual ns that this made, R8's measure of it.
 */
u64 vclock_charge(struct vclock *vc, struct vclock_task *t, u64 real_ns)
{
	u64 before = t->charged.ns;

	cpu_charge(vc, t->cpu, charge_task(t, real_ns));
	return t->charged.ns - before;
}

/* R10: charges @ns of virtual time as if @t, which is running, had run it. */
u64 vclock_move(struct vclock *vc, struct vclock_task *t, u64 ns)
{
	struct vclock_time v = { ns, 0 };

	time_add(&t->charged, v);
	cpu_charge(vc, t->cpu, v);
	return ns;
}

static void add_credit(struct vclock_task *t, struct vclock_time v)
{
	v.ns = min(v.ns, VCLOCK_TIME_MAX);
	time_add(&t->credit, v);
	if (t->credit.ns >= VCLOCK_TIME_MAX)
		t->credit = (struct vclock_time) { VCLOCK_TIME_MAX, 0 };
}

/* R10: the next @ns that the task runs are not charged. */
void vclock_credit(struct vclock_task *t, u64 ns)
{
	add_credit(t, (struct vclock_time) { ns, 0 });
}

/*
 * R13: of what was charged, or is about to be at the percent of now,
 * @real_ns were Tense's own.
 */
void vclock_refund(struct vclock_task *t, u64 real_ns)
{
	t->ran -= min(t->ran, real_ns);
	add_credit(t, time_of(real_ns, t));
}

/*
 * The charged time of the task, which continues from the latest time on any CPU.
 * The caller has charged what the task ran. A reading may be ahead: vclock_read().
 */
u64 vclock_now(struct vclock *vc, struct vclock_task *t)
{
	if (t->cpu >= 0)
		t->seen = max(t->seen, vclock_lvt(vc, t->cpu));
	return t->seen;
}

static void enter_cpu(struct vclock *vc, unsigned int cpu, u64 ready, u64 real)
{
	struct vclock_cpu *c = &vc->cpu[cpu];
	u64 lvt;

	raw_spin_lock(&c->lock);
	WRITE_ONCE(c->tasks, c->tasks + 1);
	if (c->tasks == 1) {
		lvt = gvt_enter(&vc->gvt, cpu, max(c->lvt.ns, ready), real);
		if (c->lvt.ns < lvt)
			set_lvt(c, (struct vclock_time) { lvt, 0 });
	}
	note_skew(vc, c);
	raw_spin_unlock(&c->lock);
}

static void leave_cpu(struct vclock *vc, unsigned int cpu, u64 real)
{
	struct vclock_cpu *c = &vc->cpu[cpu];

	raw_spin_lock(&c->lock);
	WRITE_ONCE(c->tasks, c->tasks - 1);
	if (!c->tasks)
		gvt_leave(&vc->gvt, cpu, real);
	raw_spin_unlock(&c->lock);
}

/*
 * R4: @t is runnable on @cpu from its ready time on. Also migration: a task
 * that is still counted on another CPU takes its time along.
 */
void vclock_join(struct vclock *vc, struct vclock_task *t, unsigned int cpu,
		 u64 real)
{
	int from = t->cpu;

	if (from == (int)cpu)
		return;
	if (from >= 0) {
		vclock_now(vc, t);
		t->ready = vclock_lvt(vc, from);
	}
	t->cpu = (int)cpu;
	/* In this order, since GVT is not to pass a task on its way. */
	enter_cpu(vc, cpu, t->ready, real);
	if (from >= 0)
		leave_cpu(vc, from, real);
}

/* @t stopped running and waits; what it ran has been charged. */
void vclock_block(struct vclock *vc, struct vclock_task *t, u64 real)
{
	vclock_now(vc, t);
	leave_cpu(vc, t->cpu, real);
	t->cpu = -1;
	t->blocked_at = t->seen;
	t->blocked_real = real;
	t->ready = t->seen;
}

/* R11: @t has left the experiment. */
void vclock_leave(struct vclock *vc, struct vclock_task *t, u64 real)
{
	vclock_disarm(vc, &t->deadline);
	if (t->cpu < 0)
		return;
	vclock_now(vc, t);
	leave_cpu(vc, t->cpu, real);
	t->cpu = -1;
}

/* R3: a task of the experiment, which is running, wakes @t or forked it. */
void vclock_ready_by(const struct vclock *vc, struct vclock_task *t,
		     const struct vclock_task *waker)
{
	t->ready = max(t->blocked_at, vclock_lvt(vc, waker->cpu));
}

/*
 * R3: something outside the experiment wakes @t. True if GVT has still to
 * reach its ready time: the caller queues a deadline for it.
 */
bool vclock_ready_outside(struct vclock *vc, struct vclock_task *t, u64 real)
{
	u64 gvt;

	vclock_advance(vc, real);
	gvt = vclock_reached(vc);
	t->ready = t->blocked_at;
	if (real > t->blocked_real)
		t->ready += real - t->blocked_real;
	t->ready = max(t->ready, gvt);
	return t->ready > gvt;
}

/* R7: the next deadline that GVT has reached, taken out of the queue. */
struct vclock_deadline *vclock_expire(struct vclock *vc, u64 real)
{
	struct vclock_deadline *d;

	vclock_advance(vc, real);
	d = vc->first;
	if (!d || d->when > vclock_reached(vc))
		return NULL;
	vclock_disarm(vc, d);
	return d;
}

/*
 * R6: the GVT at which a gated @t goes on. Half a window of play, so that
 * a CPU that is let go does not stop at once again.
 */
u64 vclock_release_time(const struct vclock *vc, const struct vclock_task *t)
{
	u64 lvt = vclock_lvt(vc, t->cpu);

	return lvt - min(lvt, vc->window / 2);
}

/*
 * R4, R6: a gated @t has been moved, to a CPU that may be behind: if nobody else
 * is left there, nobody brings GVT to where it was to go on. True if that is
 * sooner now.
 */
bool vclock_regate(struct vclock *vc, struct vclock_task *t)
{
	u64 when = vclock_release_time(vc, t);

	if (when >= t->deadline.when)
		return false;
	vclock_rearm(vc, &t->deadline, when);
	return true;
}

/* Virtual ns from @from to @to if that lies ahead. */
static u64 until(u64 from, u64 to)
{
	return to > from && to != VCLOCK_NEVER ? to - from : VCLOCK_NEVER;
}

/* Real ns until @ahead virtual ones have passed at thousandths of a percent. */
static u64 real_of(u64 ahead, u32 fine)
{
	if (fine % VCLOCK_FINE)
		return mul_u64_u64_div_u64(ahead, fine, 100000) + 1;
	return div_u64(ahead * (fine / VCLOCK_FINE) + 99, 100);
}

static struct vclock_time lvt_of(struct vclock *vc, unsigned int cpu)
{
	struct vclock_cpu *c = &vc->cpu[cpu];
	struct vclock_time lvt;

	raw_spin_lock(&c->lock);
	lvt = c->lvt;
	raw_spin_unlock(&c->lock);
	return lvt;
}

/* R7: GVT has reached a deadline. */
bool vclock_due(const struct vclock *vc)
{
	return READ_ONCE(vc->due) <= vclock_reached(vc);
}

/*
 * R7: when the first deadline is no longer the one at @was, a CPU that had passed
 * that one has no timer for the one that is first now.
 */
bool vclock_untimed(const struct vclock *vc, unsigned int cpu, u64 was)
{
	u64 due = READ_ONCE(vc->due), lvt = vclock_lvt(vc, cpu);

	return READ_ONCE(vc->cpu[cpu].tasks) && due != VCLOCK_NEVER &&
	       was <= lvt && lvt < due;
}

/*
 * R7: real ns from now until GVT could reach the next deadline, or the CPU of
 * the running task the end of its window; with no task running here, until
 * an idle experiment reaches its next deadline. VCLOCK_NEVER if there is nothing to
 * wait for: a deadline that this CPU has passed is another CPU's to reach.
 * The caller has charged the task, or called vclock_advance() if no CPU is active.
 * Needs no lock but the task's.
 */
u64 vclock_horizon(struct vclock *vc, const struct vclock_task *running)
{
	u64 deadline = READ_ONCE(vc->due), gvt = vclock_reached(vc);
	struct vclock_time credit, lvt;
	u64 ahead, real;

	if (deadline <= gvt)
		return 0;
	if (!running) {
		ahead = vclock_active(vc) ? VCLOCK_NEVER : until(gvt, deadline);
		return ahead == VCLOCK_NEVER ? ahead : min(ahead, HORIZON_MAX);
	}
	lvt = lvt_of(vc, running->cpu);
	credit = running->credit;
	ahead = until(lvt.ns, deadline);
	/* Even alone: who joins does it at the GVT that the last charge told. */
	if (vc->cpus > 1)
		ahead = min(ahead, until(lvt.ns, gvt + vc->window + 1));
	if (ahead == VCLOCK_NEVER)
		return VCLOCK_NEVER;
	ahead = min(ahead, HORIZON_MAX) + min(credit.ns, HORIZON_MAX) +
		(credit.frac > lvt.frac);
	real = real_of(ahead, vclock_fine(running));
	if (running->lowest)
		real = min(real, max3(real_of(ahead, running->lowest),
				      running->recheck, (u64)RECHECK_MIN));
	return real;
}
