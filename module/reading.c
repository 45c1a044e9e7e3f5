// SPDX-License-Identifier: GPL-2.0
/*
 * R9: no reading of a clock is earlier than a reading that happened before it,
 * and reading a clock changes nothing but what is read.
 *
 * A thread reads its clock from a page, between two charges, by a counter that
 * also counts interrupts and time that a host steals. So a reading may be ahead
 * of the time that is charged later. It must not be taken back, and it must not
 * be charged. It is kept apart from LVT, GVT and deadlines, as the earliest time
 * that later readings may show:
 *
 *	of a task	what it read, or a task that woke it or forked it had read
 *	of a CPU	the latest reading on it: all that its threads read later
 *			is no earlier, by whatever way they told each other
 *	of all CPUs	the latest reading of the experiment, in memory that its
 *			threads write, too: bounded here, and ignored beyond
 *
 * A reading shows the charged time as soon as that has caught up. By readings, too,
 * a wait or timer is as long as asked for: a lead is kept until GVT has reached the
 * deadline. No other wait, and no jump, keeps one, or CPUs that are a window apart
 * would add that to it again and again.
 *
 * Interrupts are disabled throughout, and the caller holds the task's lock.
 */
#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/minmax.h>
#endif

#include "vclock.h"

/* Virtual ns that an honest page is ahead of the next charge, at most. */
#define PAGE_LEAD_MAX	(2 * VCLOCK_AHEAD_MAX)
/* Attempts to write a word that others, who may be hostile, write meanwhile. */
#define RAISE_TRIES	16

/* The time that @t was charged up to, whatever it was shown. */
static u64 charged_time(const struct vclock *vc, const struct vclock_task *t)
{
	return t->cpu < 0 ? t->seen : max(t->seen, vclock_lvt(vc, t->cpu));
}

/* No CPU's threads, which stop a window ahead of GVT, read more than that. */
static u64 latest_possible(const struct vclock *vc)
{
	return vclock_reached(vc) + vc->window + VCLOCK_LATEST_MAX;
}

static void raise(u64 *word, u64 reading)
{
	u64 old, found = READ_ONCE(*word);
	unsigned int tries = RAISE_TRIES;

	do {
		old = found;
		if (old >= reading)
			return;
		found = cmpxchg(word, old, reading);
	} while (found != old && --tries);
}

/* The latest reading of all, but no less than @reading. */
static u64 latest(struct vclock *vc, u64 reading)
{
	/* Pairs with who publishes what it read before it tells anybody. */
	u64 found = smp_load_acquire(vc->latest);

	if (found <= latest_possible(vc))
		return max(found, reading);
	/* Nobody has read that. */
	cmpxchg(vc->latest, found, reading);
	return reading;
}

static void note(struct vclock *vc, struct vclock_task *t, u64 reading)
{
	t->shown = max(t->shown, reading);
	if (t->cpu >= 0)
		raise(&vc->cpu[t->cpu].shown, reading);
	if (READ_ONCE(vc->ordered))
		raise(vc->latest, min(reading, latest_possible(vc)));
}

/* The earliest time that the page of @t may show. */
u64 vclock_floor(const struct vclock *vc, const struct vclock_task *t)
{
	u64 floor = max(charged_time(vc, t), t->shown);

	if (t->lead && t->until <= vclock_reached(vc))
		floor = max(floor, t->until + t->lead);
	return t->cpu < 0 ? floor : max(floor, READ_ONCE(vc->cpu[t->cpu].shown));
}

/* What @t, which was charged just now, reads. */
u64 vclock_read(struct vclock *vc, struct vclock_task *t)
{
	u64 reading = vclock_floor(vc, t);

	if (READ_ONCE(vc->ordered))
		reading = latest(vc, reading);
	note(vc, t, reading);
	return reading;
}

/* @t, which was charged just now, says what it read from its page before. */
void vclock_take_shown(struct vclock *vc, struct vclock_task *t, u64 shown)
{
	/* The floor may be its own, which no other thread knows yet. */
	if (shown <= vclock_floor(vc, t) ||
	    shown - charged_time(vc, t) <= PAGE_LEAD_MAX)
		note(vc, t, shown);
}

/* What the deadlines that @t is about to arm count from. */
u64 vclock_wait_from(struct vclock *vc, struct vclock_task *t)
{
	u64 now = vclock_now(vc, t);

	/* A time-out may count from the first time that it asks for this. */
	if (t->lead_of != t->shown)
		t->lead = 0;
	t->lead_of = t->shown;
	if (t->shown > now)
		t->lead = max(t->lead, t->shown - now);
	return now;
}

/* And the one that it arms. */
void vclock_wait_until(struct vclock_task *t, u64 when)
{
	t->until = when;
}

/* What a task on @cpu has read may be known to @t, which it wakes or forked. */
void vclock_shown_by(const struct vclock *vc, struct vclock_task *t,
		     unsigned int cpu)
{
	t->shown = max(t->shown, READ_ONCE(vc->cpu[cpu].shown));
}
