/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of virtual time, R1 to R10, as plain C over plain structs. The code
 * allocates nothing and needs only spin locks and barriers of the kernel. The
 * module, the unit tests and the simulator compile the same file.
 *
 * The caller disables interrupts throughout. A lock of the caller's for each task
 * protects the task. A lock of the caller's for the experiment protects the
 * deadlines, "outside" and "skip"; the caller takes it before a task's lock. The
 * functions themselves take the innermost locks, c->lock of a CPU and then those of
 * gvt.c. All "real" arguments are ns of one monotonic clock.
 *
 * c->lock protects a CPU while it turns active or idle. A charge does not take it.
 * The caller charges only the task that runs on the CPU, and does so under the lock
 * of that task. The task counts in c->tasks, so the CPU stays active meanwhile.
 */
#ifndef TENSE_VCLOCK_H
#define TENSE_VCLOCK_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#else
#include "vclock-host.h"
#endif

#include "gvt.h"

#define VCLOCK_NEVER		GVT_NONE
#define VCLOCK_REST		(~0ULL)
#define VCLOCK_TIME_MAX		BIT_ULL(62)
#define VCLOCK_PERCENT_REAL	100
#define VCLOCK_PERCENT_MAX	100000
#define VCLOCK_FINE		1000
#define VCLOCK_WINDOW_MIN	20000ULL
#define VCLOCK_WINDOW_MAX	100000000ULL
/* The latest deadline: clocks that follow real ones cannot show a later time. */
#define VCLOCK_DEADLINE_MAX	(VCLOCK_TIME_MAX + VCLOCK_TIME_MAX / 2)
/* R9, in virtual ns: how far a page may show a time after the last charge. */
#define VCLOCK_AHEAD_MAX	2000000ULL
/* R9, in virtual ns: how far a reading may be ahead, besides the window and beyond. */
#define VCLOCK_LATEST_MAX	100000000ULL

/* Virtual ns with 32 bits of fraction: a day of charges stays exact. */
struct vclock_time {
	u64 ns;
	u32 frac;
};

/* A node of a leftist heap: one orders an experiment's deadlines, one its releases. */
struct vclock_deadline {
	u64 when;
	u64 seq;		/* first come, first served among equal times */
	struct vclock_deadline *up, *left, *right;
	u8 rank;		/* length of the right spine; 0: not queued */
	bool release;		/* of a gated task: in the queue of releases */
};

struct vclock_cpu {
	raw_spinlock_t lock;
	struct vclock_time lvt;	/* may be read at any time */
	unsigned int tasks;	/* runnable or gated here; active if > 0 */
	u64 skew;		/* worst LVT - GVT while active */
	u64 beyond;		/* part of LVT - GVT - window that run time caused */
	u64 shown;		/* latest reading on it; needs no lock */
};

/* Arrays of the caller's, which live as long as the vclock. */
struct vclock_memory {
	unsigned int cpus;
	struct vclock_cpu *cpu;		/* one per CPU */
	u64 *least;			/* 2 * gvt_leaves(cpus) */
	raw_spinlock_t *lock;		/* gvt_leaves(cpus) */
};

struct vclock {
	u64 window;
	struct gvt gvt;
	unsigned int cpus;
	/*
	 * Tasks that wait for the outside or that it woke, and running callbacks of
	 * timers. While there are any, no idle time is skipped.
	 */
	unsigned int outside;
	bool skip;		/* idle time is skipped */
	u64 seq;
	struct vclock_deadline *first;
	u64 due;		/* time of first; may be read without the lock */
	struct vclock_deadline *first_release;
	u64 release_due;	/* its time; may be read without the lock */
	struct vclock_cpu *cpu;
	u64 beyond;		/* the highest of any CPU so far; needs no lock */
	bool ordered;		/* @latest orders readings on all CPUs */
	u64 *latest;		/* latest reading; threads write it anytime */
};

/* A stretch: run time of a task in which its percent changed at known counter values. */
struct vclock_stretch {
	u64 from, to;		/* counter: the part that is not charged yet */
	u64 ns;			/* real: length of that part */
	u64 left;		/* ticks in which it ran, not charged yet; 0: not known */
	struct vclock_hole {
		u64 from, to;	/* counter: the task did not run */
	} hole[3];		/* in order */
	unsigned int holes;	/* number of them */
	unsigned int hole_next;	/* the first that ends after from */
	struct vclock_time charged;	/* to the task, not yet to its CPU */
};

/* How the changes of percent divide a stretch. */
struct vclock_segments {
	u64 at;			/* counter: the end of the segments so far */
	u64 first;		/* end of the first segment that is not empty */
	u64 last;		/* start of the last one that is not empty */
	struct vclock_hole longest;
	unsigned int changes;
};

struct vclock_task {
	u32 percent;
	u32 fine;		/* thousandths of a percent on top of it */
	u32 lowest;		/* lowest percent of its records, in thousandths; or 0 */
	int cpu;		/* where it is runnable or gated; -1: blocked */
	u64 seen;		/* latest LVT of the CPUs that it was on */
	u64 shown;		/* latest reading of the task or of its waker */
	u64 until;		/* the last deadline that it armed to count from now */
	u64 lead;		/* shown - charged time when it armed until */
	u64 lead_of;		/* value of shown at that time */
	bool counted;		/* vclock_wait_from() has set lead for the next deadline */
	bool ended;		/* the wait until then has ended early */
	u64 recheck;		/* real ns until a timer may look at its ring */
	u64 pause;		/* real ns until a timer may look at its window */
	u64 ready;		/* when it last became ready */
	struct vclock_time credit;	/* virtual time that will not be charged */
	u64 blocked_at;		/* virtual */
	u64 blocked_real;
	struct vclock_time charged;
	u64 ran;		/* real */
	struct vclock_deadline deadline;
};

void vclock_init(struct vclock *vc, const struct vclock_memory *memory,
		 u64 window, u64 real);
void vclock_task_init(struct vclock_task *t, u32 percent, u64 ready);

int vclock_set_percent(struct vclock_task *t, u32 percent);
int vclock_set_fine(struct vclock_task *t, u32 thousandths);
u64 vclock_charge(struct vclock *vc, struct vclock_task *t, u64 real_ns);
u64 vclock_charge_only(struct vclock *vc, struct vclock_task *t, u64 real_ns);
void vclock_divide(struct vclock_segments *g, const struct vclock_stretch *s,
		   u64 stamp);
u64 vclock_ticks_left(const struct vclock_stretch *s);
u64 vclock_pass_holes(struct vclock_stretch *s, u64 until);
void vclock_cut_holes(struct vclock_stretch *s, struct vclock_segments *g,
		      u64 rate);
u64 vclock_spend_ticks(struct vclock_task *t, struct vclock_stretch *s, u64 ticks,
		       u64 own);
void vclock_pass(struct vclock *vc, struct vclock_task *t,
		 const struct vclock_stretch *s);
u64 vclock_move(struct vclock *vc, struct vclock_task *t, u64 ns);
void vclock_credit(struct vclock_task *t, u64 ns);
void vclock_refund(struct vclock_task *t, u64 real_ns);
u64 vclock_unrefund(struct vclock_task *t, u64 ns, u64 most);
u64 vclock_now(struct vclock *vc, struct vclock_task *t);

/* reading.c */
u64 vclock_floor(const struct vclock *vc, const struct vclock_task *t);
u64 vclock_read(struct vclock *vc, struct vclock_task *t);
void vclock_take_shown(struct vclock *vc, struct vclock_task *t, u64 shown);
u64 vclock_wait_from(struct vclock *vc, struct vclock_task *t);
void vclock_wait_until(struct vclock_task *t, u64 when);
void vclock_wait_end(struct vclock_task *t, u64 when);
u64 vclock_limit(const struct vclock *vc);
void vclock_shown_by(const struct vclock *vc, struct vclock_task *t,
		     unsigned int cpu);

void vclock_join(struct vclock *vc, struct vclock_task *t, unsigned int cpu,
		 u64 real);
void vclock_block(struct vclock *vc, struct vclock_task *t, u64 real);
void vclock_leave(struct vclock *vc, struct vclock_task *t, u64 real);

void vclock_ready_by(const struct vclock *vc, struct vclock_task *t,
		     const struct vclock_task *waker);
bool vclock_ready_outside(struct vclock *vc, struct vclock_task *t, u64 real);

u64 vclock_gvt(struct vclock *vc, u64 real);
u64 vclock_skew(const struct vclock *vc);
void vclock_advance(struct vclock *vc, u64 real);

void vclock_arm(struct vclock *vc, struct vclock_deadline *d, u64 when);
void vclock_disarm(struct vclock *vc, struct vclock_deadline *d);
void vclock_rearm(struct vclock *vc, struct vclock_deadline *d, u64 when);
struct vclock_deadline *vclock_expire(struct vclock *vc, u64 real);

void vclock_gate(struct vclock *vc, struct vclock_task *t);
bool vclock_regate(struct vclock *vc, struct vclock_task *t);
bool vclock_due(const struct vclock *vc);
bool vclock_untimed(const struct vclock *vc, unsigned int cpu, u64 was);
u64 vclock_horizon(struct vclock *vc, const struct vclock_task *running);

/*
 * Threads may write the word all the time, so the loop has a bound. The next charge
 * or reading tries again.
 */
#define VCLOCK_RAISE_TRIES	16

/* Raises *@word to @time, unless it is later already. */
static inline void vclock_raise(u64 *word, u64 time)
{
	u64 old, found = READ_ONCE(*word);
	unsigned int tries = VCLOCK_RAISE_TRIES;

	do {
		old = found;
		if (old >= time)
			return;
		found = cmpxchg(word, old, time);
	} while (found != old && --tries);
}

/* GVT as of the last update. */
static inline u64 vclock_reached(const struct vclock *vc)
{
	return gvt_now(&vc->gvt);
}

static inline unsigned int vclock_active(const struct vclock *vc)
{
	return gvt_active(&vc->gvt);
}

static inline u64 vclock_lvt(const struct vclock *vc, unsigned int cpu)
{
	return READ_ONCE(vc->cpu[cpu].lvt.ns);
}

/* R6: how far the CPU of @t, which runs or is gated there, is beyond the window. */
static inline u64 vclock_over(const struct vclock *vc,
			      const struct vclock_task *t)
{
	u64 lvt = vclock_lvt(vc, t->cpu), end = vclock_reached(vc) + vc->window;

	return lvt > end ? lvt - end : 0;
}

static inline bool vclock_ahead(const struct vclock *vc,
				const struct vclock_task *t)
{
	return vclock_over(vc, t);
}

static inline bool vclock_has_credit(const struct vclock_task *t)
{
	return t->credit.ns || t->credit.frac;
}

/* R1: the same as vclock_charge() for a task without credit, with one CPU shorter. */
static inline u64 vclock_charge_plain(struct vclock *vc, struct vclock_task *t,
				      u64 real_ns)
{
	u64 lvt;

	if (vc->cpus > 1)
		return vclock_charge(vc, t, real_ns);
	if (t->percent != VCLOCK_PERCENT_REAL || t->fine)
		return vclock_charge_only(vc, t, real_ns);
	t->ran += real_ns;
	t->charged.ns += real_ns;
	lvt = vc->cpu->lvt.ns + real_ns;
	WRITE_ONCE(vc->cpu->lvt.ns, lvt);
	gvt_raise_only(&vc->gvt, lvt);
	return real_ns;
}

/*
 * Goes on to counter value @until, or to the nearest one in the stretch. Returns the
 * ticks in which the task ran. The caller charges them with others at that percent.
 */
static inline u64 vclock_pass_ticks(struct vclock_stretch *s, u64 until)
{
	u64 ticks;

	if (!s->left)
		s->left = vclock_ticks_left(s);
	until = min(max(until, s->from), s->to);
	if (s->hole_next < s->holes && until > s->hole[s->hole_next].from)
		return vclock_pass_holes(s, until);
	ticks = until - s->from;
	s->from = until;
	return ticks;
}

/*
 * Returns the real ns of the stretch in which the task did not run, by the counter.
 * @rate is ns per tick, times 2^32.
 */
static inline u64 vclock_missing(const struct vclock_stretch *s, u64 rate)
{
	u64 real = mul_u64_u64_shr(s->to - s->from, rate, 32);

	return rate && real > s->ns ? real - s->ns : 0;
}

/* Whether vclock_set_fine() accepts the percent. */
static inline bool vclock_is_fine(u32 thousandths)
{
	return thousandths >= VCLOCK_FINE &&
	       thousandths < (VCLOCK_PERCENT_MAX + 1) * VCLOCK_FINE;
}

/* The task's percent in thousandths. */
static inline u32 vclock_fine(const struct vclock_task *t)
{
	return t->percent * VCLOCK_FINE + t->fine;
}

static inline bool vclock_armed(const struct vclock_deadline *d)
{
	return d->rank;
}

#endif
