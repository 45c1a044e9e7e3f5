// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdatomic.h>

#include <tense.h>

#include "device.h"
#include "span.h"
#include "stack.h"

#define EXPORT __attribute__((visibility("default")))

#define SCALE_ONE	(1ULL << 32)
#define CALIBRATE	64
#define TICKS_MAX	2000	/* a larger number is a system call */

static _Thread_local struct tense_stack stack;
/* The factor of the spans on top of the stack, and the thread's slot. */
static _Thread_local struct tense_span span = { .scale = SCALE_ONE };

/* Called by every function: finds out whether the device can be used. */
static int base(void)
{
	struct tense_stats stats;
	int err;

	if (stack.based)
		return 0;
	err = tense_device_stats(&stats);
	if (!err)
		tense_stack_base(&stack, stats.percent);
	return err;
}

/* The kernel's percent, times TENSE_FINE. The program's own percents are whole ones. */
static uint32_t effective(uint64_t product, uint64_t scale)
{
	const uint64_t min = TENSE_SCALE_MIN * SCALE_ONE * TENSE_FINE;
	const uint64_t max = TENSE_SCALE_MAX * SCALE_ONE * TENSE_FINE;
	unsigned __int128 p;

	/*
	 * No shortcut for SCALE_ONE: a change must cost the same in every
	 * condition, because its cost is measured only once.
	 */
	p = tense_stack_round(product) * (unsigned __int128)(scale * TENSE_FINE);
	if (p < min)
		p = min;
	if (p > max)
		p = max;
	return ((uint64_t)p + SCALE_ONE / 2) / SCALE_ONE;
}

/*
 * R13: learns the counter ticks of a change without a system call, from changes
 * that have no effect. The kernel itself refunds the cost of system calls.
 */
static unsigned int own_ticks(const struct tense_change *none)
{
	static _Atomic unsigned int ticks;
	unsigned int least = UINT32_MAX;

	if (ticks)
		return ticks;
	for (int i = 0; i < CALIBRATE; i++) {
		uint64_t start = tense_area_counter(), taken;

		if (tense_device_percent(none))
			return 0;
		taken = tense_area_counter() - start;
		least = taken < least ? taken : least;
	}
	ticks = least && least <= TICKS_MAX ? least : 0;
	return ticks;
}

static void set_depth(unsigned int depth, uint64_t product)
{
	stack.level[depth] = product;
	atomic_signal_fence(memory_order_seq_cst);
	stack.depth = depth;
	atomic_signal_fence(memory_order_seq_cst);
	/* Until then, a signal handler could use that level as well. */
	stack.level[depth] = product;
}

/*
 * Makes the product at the new depth the thread's percent. Changes the stack
 * first: a signal handler that comes in between restores the percent from the
 * stack.
 */
static int move_to(unsigned int depth, uint64_t product)
{
	const unsigned int old = stack.depth;
	struct tense_change change = {
		.percent = effective(product, span.scale),
		.slot = span.slot,
	};
	struct tense_change none = {
		.percent = effective(stack.level[old], span.scale),
		.slot = span.slot,
	};
	int err = 0;

	if (change.percent != none.percent) {
		change.own = own_ticks(&none);
		set_depth(depth, product);
		err = tense_device_percent(&change);
		if (err)
			stack.depth = old;
	} else {
		set_depth(depth, product);
	}
	return err;
}

EXPORT int tense_init(void)
{
	return tense_device_join(false);
}

EXPORT int tense_destroy(void)
{
	int err = tense_scale_clear();

	if (!err)
		err = tense_device_leave();
	if (!err)
		stack.based = false;
	return err;
}

EXPORT int tense_health_check(void)
{
	struct tense_stats stats;
	int err = tense_device_stats(&stats);

	if (!err && stack.based &&
	    stats.percent != effective(stack.level[stack.depth], span.scale) /
			     TENSE_FINE)
		err = -EIO;
	return err;
}

EXPORT int tense_scale_percent(int percent)
{
	uint64_t product;
	int err = base();

	if (!err)
		err = tense_stack_product(&stack, percent, &product);
	return err ? err : move_to(stack.depth + 1, product);
}

EXPORT int tense_scale_pop(void)
{
	int err = base();

	if (err)
		return err;
	if (!stack.depth)
		return -EINVAL;
	return move_to(stack.depth - 1, stack.level[stack.depth - 1]);
}

EXPORT int tense_scale_clear(void)
{
	int err = base();

	return err ? err : move_to(0, stack.level[0]);
}

EXPORT int tense_move(int64_t ns)
{
	int64_t now = tense_device_move(ns);

	return now < 0 ? now : 0;
}

EXPORT int tense_time(uint64_t *ns)
{
	int64_t now = tense_device_move(0);

	if (now < 0)
		return now;
	if (!ns)
		return -EINVAL;
	*ns = now;
	return 0;
}

EXPORT int tense_sleep(int64_t ns)
{
	int64_t now = tense_device_sleep(ns);

	return now < 0 ? now : 0;
}

/* Returns the product of two scales. The kernel's percent has bounds of its own. */
static uint64_t multiply(uint64_t scale, unsigned int percent)
{
	const uint64_t max = SCALE_ONE * TENSE_SCALE_MAX / 100;
	const uint64_t one = 100 * TENSE_FINE;

	scale = scale / one * percent + scale % one * percent / one;
	return scale < max ? scale : max;
}

static struct tense_change change_to(const struct tense_span *to,
				     unsigned int own, unsigned int flags)
{
	return (struct tense_change) {
		.percent = effective(stack.level[stack.depth], to->scale),
		.own = own < UINT16_MAX ? own : UINT16_MAX,
		.slot = to->slot,
		.flags = flags,
	};
}

static int push(const struct tense_span *to, unsigned int own,
		unsigned int flags)
{
	struct tense_change change;

	if (!stack.based)
		return -EAGAIN;
	change = change_to(to, own, flags);
	return tense_ring_push(&change) ? 0 : -EAGAIN;
}

static int push_slow(const struct tense_span *to, unsigned int own,
		     unsigned int flags)
{
	struct tense_change change;
	int err = base();

	if (err)
		return err;
	change = change_to(to, own, flags);
	return tense_device_percent(&change);
}

/* Pushes by a system call and maps no area. */
static int push_call(const struct tense_span *to, unsigned int own,
		     unsigned int flags)
{
	struct tense_change change;
	int err = base();

	if (err)
		return err;
	change = change_to(to, own, flags);
	return tense_device_write(change.percent / TENSE_FINE);
}

typedef int push_fn(const struct tense_span *to, unsigned int own,
		    unsigned int flags);

/* Sets span first: a signal handler that comes in between restores that. */
static inline int begin(push_fn *push_by, struct tense_span *before,
			unsigned int percent, unsigned int slot,
			unsigned int own)
{
	const struct tense_span old = span;
	int err;

	*before = old;
	span = (struct tense_span){ multiply(span.scale, percent), slot };
	err = push_by(&span, own, TENSE_RECORD_CALL);
	if (err)
		span = old;
	return err;
}

static inline int end(push_fn *push_by, const struct tense_span *before,
		      unsigned int own)
{
	const struct tense_span old = span;
	int err;

	span = *before;
	err = push_by(&span, own, 0);
	if (err)
		span = old;
	return err;
}

static inline int count(push_fn *push_by, unsigned int slot, unsigned int own)
{
	struct tense_span to = { span.scale, slot };

	return push_by(&to, own, TENSE_RECORD_CALL | TENSE_RECORD_STAY);
}

/* Zero or positive is a time. */
static inline int take_time(int64_t time, int64_t *now)
{
	if (time < 0)
		return time;
	*now = time;
	return 0;
}

EXPORT int __tense_span_begin(struct tense_span *before, unsigned int percent,
			      unsigned int slot, unsigned int own)
{
	return begin(push, before, percent, slot, own);
}

EXPORT int __tense_span_end(const struct tense_span *before, unsigned int own)
{
	return end(push, before, own);
}

EXPORT int __tense_span_count(unsigned int slot, unsigned int own)
{
	return count(push, slot, own);
}

EXPORT int __tense_span_own(unsigned int own)
{
	return push(&span, own, 0);
}

EXPORT int __tense_span_now(int64_t *now)
{
	return take_time(tense_page_now(), now);
}

EXPORT int __tense_span_begin_slow(struct tense_span *before,
				   unsigned int percent, unsigned int slot,
				   unsigned int own)
{
	return begin(push_slow, before, percent, slot, own);
}

EXPORT int __tense_span_rush(struct tense_span *before)
{
	return begin(push_call, before, TENSE_PERCENT_MAX * TENSE_FINE, 0, 0);
}

EXPORT int __tense_span_end_slow(const struct tense_span *before,
				 unsigned int own)
{
	return end(push_slow, before, own);
}

EXPORT int __tense_span_count_slow(unsigned int slot, unsigned int own)
{
	return count(push_slow, slot, own);
}

EXPORT int __tense_span_own_slow(unsigned int own)
{
	return push_slow(&span, own, 0);
}

EXPORT int __tense_span_now_slow(int64_t *now)
{
	return take_time(tense_device_move(0), now);
}

EXPORT uint64_t __tense_span_stamp(unsigned int back)
{
	return tense_ring_stamp(back);
}

EXPORT uint64_t __tense_span_rate(void)
{
	return tense_page_rate();
}
