// SPDX-License-Identifier: GPL-2.0
/*
 * R9: writes a thread's clock page, from which the thread reads its clock without a
 * system call.
 *
 * The caller holds t->lock. The thread reads the page at any time: seq tells it to
 * read again.
 */
#include <linux/jiffies.h>

#include "area.h"
#include "tense.h"

static_assert((int)TENSE_MONOTONIC == TENSE_ORIGIN_MONOTONIC);
static_assert((int)TENSE_REALTIME == TENSE_ORIGIN_REALTIME);
static_assert((int)TENSE_BOOTTIME == TENSE_ORIGIN_BOOTTIME);
static_assert((int)TENSE_TAI == TENSE_ORIGIN_TAI);
static_assert((int)TENSE_RAW == TENSE_ORIGIN_RAW);
static_assert((int)TENSE_CLOCKS == TENSE_ORIGINS);

/* The clocks change seldom: looks at them only after a change. */
static void update_clocks(struct tense_clock *c, struct tense_experiment *exp,
			  struct tense_area *area)
{
	/* Pairs with clocks_changed(). A later change comes with a later count. */
	unsigned int changes = smp_load_acquire(&exp->clock_changes);
	int i;

	if (area->clock_changes == changes)
		return;
	area->clock_changes = changes;
	WRITE_ONCE(c->clocks, READ_ONCE(exp->virtual_clocks));
	for (i = 0; i < TENSE_CLOCKS; i++)
		WRITE_ONCE(c->origin[i],
			   tense_clock_of(exp, i, 0) + area->shift[i]);
}

/* The times as of this charge, which the counter takes on from here. */
static inline void update_time(struct tense_clock *c, const struct tense_task *t)
{
	const struct vclock *vc = &t->exp->vc;

	WRITE_ONCE(c->counter, t->counter);
	WRITE_ONCE(c->ns, t->v.cpu < 0 ? t->v.seen : vclock_lvt(vc, t->v.cpu));
	WRITE_ONCE(c->floor, vclock_floor(vc, &t->v));
	/* GVT only grows. So the kernel accepts each reading that this limit allows. */
	WRITE_ONCE(c->limit, vclock_limit(vc));
}

static inline void begin(struct tense_clock *c)
{
	WRITE_ONCE(c->seq, c->seq + 1);
	smp_wmb();	/* make seq odd before changing the rest */
}

static inline void end(struct tense_clock *c)
{
	smp_wmb();	/* change the rest before making seq even */
	WRITE_ONCE(c->seq, c->seq + 1);
}

/**
 * tense_page_shows_clocks() - whether no clock has changed since the last update
 * @t: has a page, locked
 *
 * Return: true if tense_page_go_on() may replace tense_page_update().
 */
bool tense_page_shows_clocks(const struct tense_task *t)
{
	return t->area->clock_changes == READ_ONCE(t->exp->clock_changes);
}

/**
 * tense_page_go_on() - update the times of the running task's clock page
 * @t: as for tense_page_update(), and only its times have changed
 */
void tense_page_go_on(struct tense_task *t)
{
	struct tense_clock *c = t->area->clock;

	lockdep_assert_held(&t->lock);

	begin(c);
	update_time(c, t);
	end(c);
}

/**
 * tense_page_update() - update a task's clock page
 * @t: the running task, which was charged just now, or one that leaves; locked
 */
void tense_page_update(struct tense_task *t)
{
	struct tense_experiment *exp = t->exp;
	struct tense_area *area = t->area;
	struct tense_clock *c;
	u32 flags = TENSE_CLOCK_MEMBER;

	lockdep_assert_held(&t->lock);

	if (!area)
		return;
	c = area->clock;
	/* Only the fair class charges tasks: in another class the time stands still. */
	if (t->v.cpu >= 0 && !t->move && !t->own_work && tense_is_fair(t->task))
		flags |= TENSE_CLOCK_VALID;
	begin(c);
	update_time(c, t);
	WRITE_ONCE(c->flags, flags);
	WRITE_ONCE(c->credit, t->v.credit.ns);
	WRITE_ONCE(c->stale, time_before(jiffies, area->stolen_at + HZ) ?
			     area->stale_stolen : area->stale);
	WRITE_ONCE(c->percent, vclock_fine(&t->v));
	WRITE_ONCE(c->tail, t->tail);
	update_clocks(c, exp, area);
	end(c);
}
