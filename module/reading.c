// SPDX-License-Identifier: GPL-2.0
/*
 * R9: no reading of a clock is earlier than a reading that happened before it,
 * and reading a clock changes only later readings.
 *
 * Between two charges a thread reads its clock from a page, by a counter that
 * also counts interrupts and time that a host steals. A reading may therefore be
 * ahead of the time that the kernel charges later. The kernel must neither take
 * the reading back nor charge it. It keeps readings apart from LVT, GVT and
 * deadlines, as the earliest time that later readings may show:
 *
 *	per task	the latest reading of the task, or of a task that woke or
 *			forked it
 *	per CPU		the latest reading on the CPU: later readings there are no
 *			earlier, however the threads communicate
 *	all CPUs	the latest reading of the experiment, in memory that its
 *			threads also write: the kernel ignores impossible values
 *
 * A reading shows the charged time once that has caught up. A wait or timer has
 * the requested length by readings, too: a task keeps its lead until GVT reaches
 * the deadline. No other wait and no jump keeps a lead. Otherwise CPUs that are a
 * window apart would add the window to it again and again.
 *
 * Interrupts are disabled throughout, and the caller holds the task's lock.
 */
#ifdef __KERNEL__
#include <linux/minmax.h>
#endif

#include "vclock.h"

/* Virtual ns that an honest page is ahead of the next charge, at most. */
#define PAGE_LEAD_MAX	(2 * VCLOCK_AHEAD_MAX)

/* The charged time of @t, without the lead that its readings may have. */
static u64 charged_time(const struct vclock *vc, const struct vclock_task *t)
{
	return t->cpu < 0 ? t->seen : max(t->seen, vclock_lvt(vc, t->cpu));
}

/*
 * R6: a thread stops a window ahead of GVT. A host may stop a CPU for a long time,
 * and the thread may leave it before the gate: vc->beyond bounds that.
 */
static u64 latest_possible(const struct vclock *vc)
{
	return vclock_reached(vc) + vc->window + VCLOCK_LATEST_MAX +
	       READ_ONCE(vc->beyond);
}

/* The latest reading on all CPUs, but at least @reading. */
static u64 latest(struct vclock *vc, u64 reading)
{
	/* Pairs with the release by which a thread publishes its reading. */
	u64 found = smp_load_acquire(vc->latest);

	if (found <= latest_possible(vc))
		return max(found, reading);
	/* A thread forged the word: no reading can be so late. */
	cmpxchg(vc->latest, found, reading);
	return reading;
}

static void note(struct vclock *vc, struct vclock_task *t, u64 reading)
{
	t->shown = max(t->shown, reading);
	/* A task that jumped and then moved to a CPU that is behind reads more. */
	reading = min(reading, latest_possible(vc));
	if (t->cpu >= 0)
		vclock_raise(&vc->cpu[t->cpu].shown, reading);
	if (READ_ONCE(vc->ordered))
		vclock_raise(vc->latest, reading);
}

/* The earliest time that the page of @t may show. */
u64 vclock_floor(const struct vclock *vc, const struct vclock_task *t)
{
	u64 floor = max(charged_time(vc, t), t->shown);

	if (t->lead && !t->ended && t->until <= vclock_reached(vc))
		floor = max(floor, t->until + t->lead);
	return t->cpu < 0 ? floor : max(floor, READ_ONCE(vc->cpu[t->cpu].shown));
}

/* @t reads its clock. The caller has just charged it. */
u64 vclock_read(struct vclock *vc, struct vclock_task *t)
{
	u64 reading = vclock_floor(vc, t);

	if (READ_ONCE(vc->ordered))
		reading = latest(vc, reading);
	note(vc, t, reading);
	return reading;
}

/* @t reports @shown, read from its page. The caller has just charged it. */
void vclock_take_shown(struct vclock *vc, struct vclock_task *t, u64 shown)
{
	/* The floor may come from @t alone: note it for the other threads. */
	if (shown <= vclock_floor(vc, t) ||
	    shown - charged_time(vc, t) <= PAGE_LEAD_MAX)
		note(vc, t, shown);
	/* The thread may have read what all share, and that may be a forged value. */
	else if (READ_ONCE(vc->ordered) && shown <= latest_possible(vc))
		t->shown = shown;
}

/* The latest reading that the page of an ordered experiment may take from others. */
u64 vclock_limit(const struct vclock *vc)
{
	return READ_ONCE(vc->ordered) ? latest_possible(vc) : 0;
}

/* The time from which the deadlines that @t is about to arm count. */
u64 vclock_wait_from(struct vclock *vc, struct vclock_task *t)
{
	u64 now = vclock_now(vc, t);

	/* A time-out may count from an earlier call: keep the largest lead. */
	if (t->lead_of != t->shown)
		t->lead = 0;
	t->lead_of = t->shown;
	if (t->shown > now)
		t->lead = max(t->lead, t->shown - now);
	t->counted = true;
	return now;
}

/*
 * @t arms a deadline at @when. A deadline that does not count from now needs no lead.
 * It does not change the lead of a timer that still waits. A call that was interrupted
 * by a signal or another wake-up arms the same time again: then its wait goes on.
 */
void vclock_wait_until(struct vclock_task *t, u64 when)
{
	if (t->counted)
		t->until = when;
	if (t->until == when)
		t->ended = false;
	t->counted = false;
}

/* @t no longer waits for the deadline at @when. */
void vclock_wait_end(struct vclock_task *t, u64 when)
{
	if (t->until == when)
		t->ended = true;
}

/* A task on @cpu wakes or forked @t, and may pass it a reading of the CPU. */
void vclock_shown_by(const struct vclock *vc, struct vclock_task *t,
		     unsigned int cpu)
{
	t->shown = max(t->shown, READ_ONCE(vc->cpu[cpu].shown));
}
