// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of virtual time: charges, jumps, joins, ready times, deadlines and the
 * window. Each function names the rule that it keeps. vclock.h states the locking.
 * reading.c has the rest of R9, and gvt.c computes GVT.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#endif

#include "vclock.h"

/* Real ns that one charge can hold without overflow: over two years. */
#define CHARGE_MAX	BIT_ULL(56)
/* The same at a percent in thousandths: over half a day. */
#define CHARGE_MAX_FINE	BIT_ULL(46)
/* Real ns that leaving and entering the kernel takes at most. */
#define HAND_OVER_MAX	100000
/*
 * A ring may still hold changes of percent, so a timer may come too early. It comes
 * again after this many real ns at the earliest.
 */
#define RECHECK_MIN	((u64)10000)
/* How far ahead a timer is set at most, in virtual ns: about a quarter hour. */
#define HORIZON_MAX	BIT_ULL(40)
/*
 * How long a timer waits for the end of a window at most, in real ns. A release may be
 * queued meanwhile, and a CPU without ticks would not see that.
 */
#define STOP_MAX	((u64)10000000)

/* Inline, like all that each charge runs: the measured task pays for it. */
static inline struct vclock_time time_of(u64 real_ns, const struct vclock_task *t)
{
	struct vclock_time v = { min(real_ns, CHARGE_MAX), 0 };
	u32 factor = 100, percent = t->percent, rem;

	/* In a very long charge, thousandths hardly matter. */
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

static inline void time_add(struct vclock_time *to, struct vclock_time v)
{
	to->ns += v.ns;
	if (v.frac) {
		to->frac += v.frac;
		to->ns += to->frac < v.frac;
	}
}

static struct vclock_time time_less(struct vclock_time a, struct vclock_time b)
{
	return (struct vclock_time) {
		.ns = a.ns - b.ns - (a.frac < b.frac),
		.frac = a.frac - b.frac,
	};
}

/* Pays for @v from @credit. Returns the unpaid rest. */
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

/* Puts d's children in order and corrects its rank; false if the rank was right. */
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

static u64 when_of(const struct vclock_deadline *d)
{
	return d ? d->when : VCLOCK_NEVER;
}

/* Called after each complete change: readers without a lock see no state in between. */
static void tell_first(struct vclock *vc)
{
	WRITE_ONCE(vc->due, when_of(vc->first));
	WRITE_ONCE(vc->release_due, when_of(vc->first_release));
}

static struct vclock_deadline **queue_of(struct vclock *vc,
					 const struct vclock_deadline *d)
{
	return d->release ? &vc->first_release : &vc->first;
}

static void put_in(struct vclock *vc, struct vclock_deadline *d, u64 when)
{
	struct vclock_deadline **first = queue_of(vc, d);

	d->when = when;
	d->seq = vc->seq++;
	d->up = NULL;
	d->left = NULL;
	d->right = NULL;
	d->rank = 1;
	*first = merge(*first, d);
	(*first)->up = NULL;
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
		*queue_of(vc, d) = rest;
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

/* R7: queues d for GVT = when. The caller has not queued it yet. */
void vclock_arm(struct vclock *vc, struct vclock_deadline *d, u64 when)
{
	d->release = false;
	put_in(vc, d, when);
	tell_first(vc);
}

/* Takes d out of the queue, if it is queued. */
void vclock_disarm(struct vclock *vc, struct vclock_deadline *d)
{
	take_out(vc, d);
	tell_first(vc);
}

/* Queues d for another GVT, whether or not it is queued. */
void vclock_rearm(struct vclock *vc, struct vclock_deadline *d, u64 when)
{
	take_out(vc, d);
	put_in(vc, d, when);
	tell_first(vc);
}

/* R5: returns GVT, which follows real time while no CPU is active. */
u64 vclock_gvt(struct vclock *vc, u64 real)
{
	return gvt_at(&vc->gvt, real);
}

/*
 * R5: brings GVT up to now, and to the first deadline if idle time is skipped. A
 * task between vclock_expire() and vclock_join() counts in vc->outside, so that
 * time does not skip past it.
 */
void vclock_advance(struct vclock *vc, u64 real)
{
	bool skip = vc->skip && !vc->outside && vc->first;

	gvt_pass_idle(&vc->gvt, real, skip ? vc->first->when : 0);
}

/* Virtual time starts at 0, with no active CPU. */
void vclock_init(struct vclock *vc, const struct vclock_memory *memory,
		 u64 window, u64 real)
{
	unsigned int i;

	*vc = (struct vclock) {
		.window = window,
		.cpus = memory->cpus,
		.cpu = memory->cpu,
		.due = VCLOCK_NEVER,
		.release_due = VCLOCK_NEVER,
	};
	gvt_init(&vc->gvt, memory->least, memory->lock, memory->cpus, real);
	for (i = 0; i < vc->cpus; i++) {
		vc->cpu[i] = (struct vclock_cpu) { };
		raw_spin_lock_init(&vc->cpu[i].lock);
	}
}

/* Makes @t a blocked task that becomes ready at @ready, by fork for instance. */
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

/* R2: the caller has charged the time before. An invalid percent changes nothing. */
int vclock_set_percent(struct vclock_task *t, u32 percent)
{
	if (percent < 1 || percent > VCLOCK_PERCENT_MAX)
		return -EINVAL;
	t->percent = percent;
	t->fine = 0;
	return 0;
}

/* R2: the same in thousandths of a percent. */
int vclock_set_fine(struct vclock_task *t, u32 thousandths)
{
	int err = vclock_set_percent(t, thousandths / VCLOCK_FINE);

	if (!err && t->percent < VCLOCK_PERCENT_MAX)
		t->fine = thousandths % VCLOCK_FINE;
	return err;
}

static inline void set_lvt(struct vclock_cpu *c, struct vclock_time v)
{
	WRITE_ONCE(c->lvt.ns, v.ns);
	WRITE_ONCE(c->lvt.frac, v.frac);
}

/*
 * Notes the skew of the CPU (R6), and the part of it beyond the window that run
 * time caused, not a jump (R9). Run time has just raised its LVT by at most @ran ns.
 */
static inline void note_ahead(struct vclock *vc, struct vclock_cpu *c, u64 ran)
{
	u64 gvt = vclock_reached(vc);
	u64 skew = c->lvt.ns > gvt ? c->lvt.ns - gvt : 0;

	if (skew > c->skew)
		WRITE_ONCE(c->skew, skew);
	if (skew <= vc->window) {
		c->beyond = 0;
		return;
	}
	c->beyond = min(c->beyond + ran, skew - vc->window);
	vclock_raise(&vc->beyond, c->beyond);
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

/* Takes no lock: vclock.h says why. */
static inline void cpu_charge(struct vclock *vc, int cpu, struct vclock_time v, bool ran)
{
	struct vclock_cpu *c = &vc->cpu[cpu];
	struct vclock_time lvt = c->lvt;

	time_add(&lvt, v);
	set_lvt(c, lvt);
	gvt_raise(&vc->gvt, cpu, lvt.ns);
	/* The fractions may carry. A single CPU is never ahead of GVT. */
	if (vc->cpus > 1)
		note_ahead(vc, c, ran ? v.ns + 1 : 0);
}

/* Returns the ticks of the rest of a stretch in which the task ran. */
u64 vclock_ticks_left(const struct vclock_stretch *s)
{
	u64 ticks = s->to - s->from;
	unsigned int i;

	for (i = s->hole_next; i < s->holes; i++)
		ticks -= s->hole[i].to - max(s->hole[i].from, s->from);
	return ticks;
}

/* The same as vclock_pass_ticks() if there are holes before @until. */
u64 vclock_pass_holes(struct vclock_stretch *s, u64 until)
{
	u64 ticks = until - s->from;

	for (; s->hole_next < s->holes; s->hole_next++) {
		const struct vclock_hole *h = &s->hole[s->hole_next];

		if (h->from >= until)
			break;
		ticks -= min(h->to, until) - max(h->from, s->from);
		if (h->to > until)
			break;
	}
	s->from = until;
	return ticks;
}

/* Returns the real ns of the next @ticks of the rest, or of all if there are fewer. */
static u64 part_of(const struct vclock_stretch *s, u64 ticks)
{
	if (!ticks)
		return 0;
	return ticks >= s->left ? s->ns :
				  mul_u64_u64_div_u64(s->ns, ticks, s->left);
}

/*
 * Notes a change of percent at @stamp. The caller starts with { .at = s->from } and
 * passes the changes in order. A stamp that is out of order or outside of the
 * stretch moves to the nearest possible value.
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

/* The holes come in order. */
static void add_hole(struct vclock_stretch *s, u64 from, u64 ticks)
{
	if (ticks)
		s->hole[s->holes++] = (struct vclock_hole) { from, from + ticks };
}

/*
 * R1: the counter runs on while something else has the CPU; the task's real time
 * does not. The difference is missing. If much is missing, most of it is one hole,
 * and only the longest segment surely has room for it. The rest is the way out of
 * the kernel and back into it, at both ends. @rate is ns per tick, times 2^32.
 */
void vclock_cut_holes(struct vclock_stretch *s, struct vclock_segments *g,
		      u64 rate)
{
	u64 missing_ns = vclock_missing(s, rate);
	u64 missing, front = 0, back = 0, middle = 0;
	u64 first, last;

	if (!g->changes || !missing_ns)
		return;
	/* The last segment reaches from the last change to the end. */
	vclock_divide(g, s, s->to);
	first = g->first - s->from;
	last = s->to - g->last;
	missing = mul_u64_u64_div_u64(missing_ns, BIT_ULL(32), rate);
	missing = min(missing, s->to - s->from);
	if (missing_ns > HAND_OVER_MAX) {
		middle = min(missing, g->longest.to - g->longest.from);
		missing -= middle;
	}
	if (g->longest.from == s->from)
		first -= middle;
	if (g->longest.to == s->to)
		last -= middle;
	front = min(missing / 2, first);
	back = min(missing - front, last);
	front = min(missing - back, first);
	s->left = 0;
	add_hole(s, s->from, front);
	if (g->longest.to == s->to) {
		/* The middle hole takes up the end. */
		add_hole(s, s->to - middle - back, back);
		add_hole(s, s->to - middle, middle);
	} else {
		add_hole(s, g->longest.to - middle, middle);
		add_hole(s, s->to - back, back);
	}
}

/* Charges the task, but not yet its CPU. */
static inline struct vclock_time charge_task(struct vclock_task *t, u64 real_ns)
{
	struct vclock_time v = time_of(real_ns, t);

	t->ran += real_ns;
	if (vclock_has_credit(t))
		v = pay(&t->credit, v);
	time_add(&t->charged, v);
	return v;
}

/*
 * R2: charges @t at its current percent for @ticks of the stretch, which the caller
 * has passed. With VCLOCK_REST, charges all that is left, including ns that rounding
 * left over. Leaves out @own of the ticks, which were Tense's work (R13). Returns the
 * charged virtual ns (R8). The caller must call vclock_pass() afterwards.
 */
u64 vclock_spend_ticks(struct vclock_task *t, struct vclock_stretch *s, u64 ticks,
		       u64 own)
{
	u64 before = t->charged.ns, ns, free;

	free = part_of(s, own);
	ns = part_of(s, ticks);
	free = min(ns, free);
	s->left -= min(ticks, s->left);
	s->ns -= ns;
	time_add(&s->charged, charge_task(t, ns - free));
	return t->charged.ns - before;
}

/* R1: adds the charge of the stretch to the LVT of the CPU of @t. */
void vclock_pass(struct vclock *vc, struct vclock_task *t,
		 const struct vclock_stretch *s)
{
	if (s->charged.ns || s->charged.frac)
		cpu_charge(vc, t->cpu, s->charged, true);
}

static noinline u64 charge_at_percent(struct vclock *vc, struct vclock_task *t,
				      u64 real_ns)
{
	u64 before = t->charged.ns;

	cpu_charge(vc, t->cpu, charge_task(t, real_ns), true);
	return t->charged.ns - before;
}

/*
 * R1: charges the runnable @t for @real_ns since the last charge. Returns the
 * charged virtual ns (R8).
 */
u64 vclock_charge(struct vclock *vc, struct vclock_task *t, u64 real_ns)
{
	/* Nearly all charges: a shortcut to the result of charge_at_percent(). */
	if (t->percent == VCLOCK_PERCENT_REAL && !t->fine && !vclock_has_credit(t) &&
	    real_ns <= CHARGE_MAX) {
		t->ran += real_ns;
		t->charged.ns += real_ns;
		cpu_charge(vc, t->cpu, (struct vclock_time) { real_ns, 0 }, true);
		return real_ns;
	}
	return charge_at_percent(vc, t, real_ns);
}

/* R1: the same for a task without credit, in an experiment with one CPU. */
u64 vclock_charge_only(struct vclock *vc, struct vclock_task *t, u64 real_ns)
{
	struct vclock_time v = time_of(real_ns, t), lvt = vc->cpu->lvt;
	u64 before = t->charged.ns;

	t->ran += real_ns;
	time_add(&t->charged, v);
	time_add(&lvt, v);
	set_lvt(vc->cpu, lvt);
	gvt_raise_only(&vc->gvt, lvt.ns);
	return t->charged.ns - before;
}

/* R10: charges @ns of virtual time as if @t, which is running, had run it. */
u64 vclock_move(struct vclock *vc, struct vclock_task *t, u64 ns)
{
	struct vclock_time v = { ns, 0 };

	time_add(&t->charged, v);
	cpu_charge(vc, t->cpu, v, false);
	return ns;
}

static void add_credit(struct vclock_task *t, struct vclock_time v)
{
	v.ns = min(v.ns, VCLOCK_TIME_MAX);
	time_add(&t->credit, v);
	if (t->credit.ns >= VCLOCK_TIME_MAX)
		t->credit = (struct vclock_time) { VCLOCK_TIME_MAX, 0 };
}

/* Real ns in which @ahead virtual ns pass, at a percent in thousandths. */
static u64 real_of(u64 ahead, u32 fine)
{
	if (fine % VCLOCK_FINE)
		return mul_u64_u64_div_u64(ahead, fine, 100000) + 1;
	return div_u64(ahead * (fine / VCLOCK_FINE) + 99, 100);
}

/* R10: the next @ns that the task runs are not charged. */
void vclock_credit(struct vclock_task *t, u64 ns)
{
	add_credit(t, (struct vclock_time) { ns, 0 });
}

/*
 * R13: gives back @real_ns of Tense's own work. They were charged at the current
 * percent, or are about to be.
 */
void vclock_refund(struct vclock_task *t, u64 real_ns)
{
	t->ran -= min(t->ran, real_ns);
	add_credit(t, time_of(real_ns, t));
}

/*
 * R13: takes back the unused @ns of refunds, at the current percent. Returns the real
 * ns that count as run again, at most @most: the percent may have changed since.
 */
u64 vclock_unrefund(struct vclock_task *t, u64 ns, u64 most)
{
	u64 real;

	ns = min(ns, t->credit.ns);
	t->credit.ns -= ns;
	real = min(real_of(min(ns, HORIZON_MAX), vclock_fine(t)), most);
	t->ran += real;
	return real;
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
		/*
		 * The task may come from a CPU that is beyond the window. Assume
		 * the most so far.
		 */
		c->beyond = 0;
		note_ahead(vc, c, READ_ONCE(vc->beyond));
	}
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
 * R4: @t becomes runnable on @cpu at its ready time. A task that is still counted
 * on another CPU migrates, and takes the LVT of that CPU along.
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
	/* Enter before leaving: GVT must not pass a migrating task. */
	enter_cpu(vc, cpu, t->ready, real);
	if (from >= 0)
		leave_cpu(vc, from, real);
}

/* @t stops running and waits. The caller has charged it. */
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
 * R3: something outside the experiment wakes @t. Returns true if GVT has not yet
 * reached its ready time; the caller then queues a deadline for it.
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

static struct vclock_deadline *first_of_both(const struct vclock *vc)
{
	struct vclock_deadline *d = vc->first, *release = vc->first_release;

	if (d && (!release || before(d, release)))
		return d;
	return release;
}

/* R7: takes the next deadline or release that GVT has reached out; NULL if none. */
struct vclock_deadline *vclock_expire(struct vclock *vc, u64 real)
{
	struct vclock_deadline *d;

	vclock_advance(vc, real);
	d = first_of_both(vc);
	if (!d || d->when > vclock_reached(vc))
		return NULL;
	vclock_disarm(vc, d);
	return d;
}

/*
 * R6: the GVT at which a gated @t continues. Half a window of slack keeps a released
 * CPU from stopping again at once.
 */
static u64 release_time(const struct vclock *vc, const struct vclock_task *t)
{
	u64 lvt = vclock_lvt(vc, t->cpu);

	return lvt - min(lvt, vc->window / 2);
}

/*
 * R6: queues the release of @t, which is ahead. A task at the gate has no virtual time to
 * lose, so the release may come late, and nobody interrupts other CPUs for it.
 */
void vclock_gate(struct vclock *vc, struct vclock_task *t)
{
	t->deadline.release = true;
	put_in(vc, &t->deadline, release_time(vc, t));
	tell_first(vc);
}

/*
 * R4, R6: a gated @t has migrated, perhaps to a CPU that is behind. If no other
 * task runs there, that CPU holds GVT below the old release time for ever. Moves
 * the release if the new release time is earlier; returns true if so.
 */
bool vclock_regate(struct vclock *vc, struct vclock_task *t)
{
	u64 when = release_time(vc, t);

	if (when >= t->deadline.when)
		return false;
	vclock_rearm(vc, &t->deadline, when);
	return true;
}

/* Virtual ns from @from to @to; VCLOCK_NEVER if @to is not ahead. */
static u64 until(u64 from, u64 to)
{
	return to > from && to != VCLOCK_NEVER ? to - from : VCLOCK_NEVER;
}

/*
 * Real ns that a task runs at least until it has got @ahead virtual ns further. If its
 * ring may change its percent meanwhile, the time is that for @slack at least.
 */
static u64 run_time(const struct vclock_task *t, u64 ahead, u64 slack)
{
	u64 real = real_of(ahead, vclock_fine(t)), soon = max(t->recheck, RECHECK_MIN);

	if (!t->lowest)
		return real;
	return min(real, max(real_of(max(ahead, slack), t->lowest), soon));
}

/* R7: whether GVT has reached the first deadline or release. */
bool vclock_due(const struct vclock *vc)
{
	return min(READ_ONCE(vc->due), READ_ONCE(vc->release_due)) <= vclock_reached(vc);
}

/*
 * R7: whether @cpu lacks a timer for the first deadline, which was at @was before.
 * A CPU that had passed @was has no timer for the new one.
 */
bool vclock_untimed(const struct vclock *vc, unsigned int cpu, u64 was)
{
	u64 due = READ_ONCE(vc->due), lvt = vclock_lvt(vc, cpu);

	return READ_ONCE(vc->cpu[cpu].tasks) && due != VCLOCK_NEVER &&
	       was <= lvt && lvt < due;
}

/*
 * R6: real ns until the running task could reach the release of a gated one or the end
 * of its own window, but not before its pause is over. Its ring may bring it there
 * sooner: the timer is then half a window late, or RECHECK_MIN or t->recheck if that is
 * longer, so that the CPU handles few timers.
 *
 * If it is beyond its window and does not stop, it looks again after another one. GVT
 * may wait for it meanwhile, at the time up to which it was charged.
 */
static u64 time_to_stop(const struct vclock *vc, const struct vclock_task *t, u64 lvt,
			u64 gvt, u64 credit)
{
	u64 end = gvt + vc->window + 1, ahead, real;

	ahead = min(until(lvt, READ_ONCE(vc->release_due)),
		    lvt < end ? end - lvt : vc->window);
	real = run_time(t, ahead + credit, vc->window / 2);
	return max(min(real, STOP_MAX), t->pause);
}

/*
 * R7: returns real ns until the CPU of the running task could reach the next
 * deadline, or until time_to_stop() if there are several CPUs. Without a running
 * task: until an idle experiment reaches its next deadline. VCLOCK_NEVER if there is
 * nothing to wait for: if this CPU has passed a deadline, another CPU has to reach it.
 *
 * The caller has charged the running task, or called vclock_advance() if no CPU is
 * active. It needs to hold no lock but the task's.
 */
u64 vclock_horizon(struct vclock *vc, const struct vclock_task *running)
{
	u64 deadline = READ_ONCE(vc->due), gvt = vclock_reached(vc);
	u64 ahead, real = VCLOCK_NEVER, credit, lvt;
	const struct vclock_time *at;

	/* Most switches and ticks: nobody sleeps, and there is no window. */
	if (deadline == VCLOCK_NEVER && vc->cpus == 1)
		return VCLOCK_NEVER;
	if (min(deadline, READ_ONCE(vc->release_due)) <= gvt)
		return 0;
	if (!running) {
		ahead = vclock_active(vc) ? VCLOCK_NEVER : until(gvt, deadline);
		return ahead == VCLOCK_NEVER ? ahead : min(ahead, HORIZON_MAX);
	}
	at = &vc->cpu[running->cpu].lvt;
	lvt = READ_ONCE(at->ns);
	credit = min(running->credit.ns, HORIZON_MAX) +
		 (running->credit.frac > READ_ONCE(at->frac));
	ahead = until(lvt, deadline);
	if (ahead != VCLOCK_NEVER)
		real = run_time(running, min(ahead, HORIZON_MAX) + credit, 0);
	/* Even alone: a CPU that joins starts at the GVT of the last charge. */
	if (vc->cpus > 1)
		real = min(real, time_to_stop(vc, running, lvt, gvt, credit));
	return real;
}
