// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdatomic.h>

#include <tense.h>

#include "device.h"
#include "health.h"
#include "self.h"

#define EXPORT __attribute__((visibility("default")))

#define CALIBRATE	64
#define TICKS_MAX	2000	/* a larger number is a system call */
#define NSEC_PER_SEC	1000000000LL

/* Called by every function: finds out whether the device can be used. */
static int base(void)
{
	struct tense_stack *stack = &__tense_self.stack;
	struct tense_stats stats;
	int err;

	if (stack->based)
		return 0;
	err = tense_device_stats(&stats);
	if (!err) {
		stack->percent[0] = stats.percent * TENSE_FINE;
		tense_barrier();
		tense_stack_base(stack, stats.percent);
	}
	return err;
}

/*
 * R13: learns the counter ticks of a change without a system call, from changes
 * that have no effect. The kernel itself refunds the cost of system calls.
 */
static void learn_ticks(void)
{
	static _Atomic unsigned int ticks;
	struct tense_self *t = &__tense_self;
	struct tense_change none = {
		.percent = tense_percent_at(t, t->span.scale),
		.slot = t->span.slot,
	};
	unsigned int least = UINT32_MAX;

	for (int i = 0; !ticks && i < CALIBRATE; i++) {
		uint64_t start = tense_area_counter(), taken;

		if (tense_device_percent(&none))
			return;
		if (!tense_area_usable())
			break;
		taken = tense_area_counter() - start;
		least = taken < least ? taken : least;
	}
	if (least <= TICKS_MAX)
		ticks = least;
	/* Not 0, which would ask again at each change of a thread without a ring. */
	t->own = TENSE_REST_OWN(ticks ? ticks : 1);
}

static void set_level(struct tense_stack *stack, unsigned int depth,
		      uint64_t product, uint32_t percent)
{
	stack->level[depth] = product;
	stack->percent[depth] = percent;
}

static void set_depth(struct tense_stack *stack, unsigned int depth,
		      uint64_t product, uint32_t percent)
{
	set_level(stack, depth, product, percent);
	tense_barrier();
	stack->depth = depth;
	tense_barrier();
	/* Until then, a signal handler could use that level as well. */
	set_level(stack, depth, product, percent);
}

/* The ring is full, or there is none. old: the depth before the change. */
__attribute__((noinline)) static int ask_device(uint64_t percent,
						unsigned int old)
{
	struct tense_self *t = &__tense_self;
	int err = tense_device_percent(&(struct tense_change){
		.percent = percent,
		.own = t->own / TENSE_REST_OWN(1),
		.slot = t->span.slot,
	});

	if (err)
		t->stack.depth = old;
	return err;
}

/*
 * Makes the product at the new depth the thread's percent. Changes the stack
 * first: a signal handler that comes in between restores the percent from the
 * stack.
 */
__attribute__((always_inline)) static inline
int move_to(unsigned int depth, uint64_t product, uint64_t percent)
{
	struct tense_self *t = &__tense_self;
	const unsigned int old = t->stack.depth;
	bool same = percent == t->stack.percent[old];
	uint64_t rest;

	set_depth(&t->stack, depth, product, percent);
	if (same)
		return 0;
	percent = tense_effective(percent, t->span.scale);
	rest = t->own | TENSE_REST_SLOT(t->span.slot);
	if (!tense_push(t->line, percent, rest))
		return ask_device(percent, old);
	t->told = percent;
	return 0;
}

static inline int scale(int percent)
{
	const struct tense_stack *stack = &__tense_self.stack;
	uint64_t product;
	int err = tense_stack_product(stack, percent, &product);

	return err ? err : move_to(stack->depth + 1, product,
				   tense_stack_round(product) * TENSE_FINE);
}

static inline int move_down(unsigned int depth)
{
	const struct tense_stack *stack = &__tense_self.stack;

	return move_to(depth, stack->level[depth], stack->percent[depth]);
}

/* With nothing pushed, the thread runs at the percent of the empty stack already. */
static inline int pop(void)
{
	unsigned int depth = __tense_self.stack.depth;

	return depth ? move_down(depth - 1) : 0;
}

static int start(void)
{
	int err = base();

	if (!err)
		learn_ticks();
	return err;
}

/* Apart from the usual case, which is faster without a call. */
__attribute__((noinline)) static int scale_first(int percent)
{
	int err = start();

	return err ? err : scale(percent);
}

__attribute__((noinline)) static int pop_first(void)
{
	int err = start();

	return err ? err : pop();
}

EXPORT int tense_init(void)
{
	return tense_device_join(false);
}

EXPORT int tense_destroy(void)
{
	struct tense_self *t = &__tense_self;
	struct tense_stats stats;
	int err = tense_scale_clear();

	if (!err)
		err = tense_device_leave();
	if (!err) {
		/* Without an area no span begins before the stack has a base again. */
		tense_area_drop();
		t->own = 0;
		/* The kernel's percent of a thread that stays includes that of its span. */
		t->stack.based = t->span.scale != TENSE_SPAN_ONE &&
				 !tense_device_look(&stats);
	}
	return err;
}

EXPORT int tense_health_check(void)
{
	const struct tense_self *t = &__tense_self;
	uint32_t head = tense_area_head();
	struct tense_stats stats;
	int err = tense_device_look(&stats);
	uint64_t percent;

	if (err == -ESRCH) {
		err = tense_health_outside();
		return err ? tense_device_complain(err) : 0;
	}
	/* The call has made the kernel take what was in the ring. */
	if (!err && !tense_area_took(head))
		err = -EIO;
	/* Without a ring, a system call sets the percent, and rounds it. */
	percent = tense_percent_at(t, t->span.scale);
	if (!err && t->stack.based && stats.percent != percent / TENSE_FINE &&
	    stats.percent != (percent + TENSE_FINE / 2) / TENSE_FINE)
		err = -EIO;
	return err;
}

EXPORT int tense_scale_percent(int percent)
{
	return __tense_self.own ? scale(percent) : scale_first(percent);
}

EXPORT int tense_scale_pop(void)
{
	return __tense_self.own ? pop() : pop_first();
}

EXPORT int tense_scale_clear(void)
{
	int err = base();

	return err ? err : move_down(0);
}

EXPORT int tense_move_ns(int64_t ns)
{
	int64_t now = tense_device_move(ns);

	return now < 0 ? now : 0;
}

EXPORT int tense_time_ns(uint64_t *ns)
{
	int64_t now = tense_device_move(0);

	if (now < 0)
		return now;
	if (!ns)
		return -EINVAL;
	*ns = now;
	return 0;
}

EXPORT int tense_sleep_ns(int64_t ns)
{
	int64_t now = tense_device_sleep(ns);

	return now < 0 ? now : 0;
}

/* As in POSIX, a negative time has negative seconds and positive nanoseconds. */
static int to_ns(const struct timespec *time, int64_t *ns)
{
	int64_t seconds, rest;

	if (!time || time->tv_nsec < 0 || time->tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	seconds = time->tv_sec;
	rest = time->tv_nsec;
	/* INT64_MIN is between two seconds: no partial result may overflow. */
	if (seconds < 0 && rest) {
		seconds++;
		rest -= NSEC_PER_SEC;
	}
	if (__builtin_mul_overflow(seconds, NSEC_PER_SEC, ns) ||
	    __builtin_add_overflow(*ns, rest, ns))
		return -EOVERFLOW;
	return 0;
}

/* An error of the device comes before one of an argument. */
static int refuse(int err)
{
	int64_t now = tense_device_move(0);

	return now < 0 ? now : err;
}

EXPORT int tense_move(const struct timespec *delta)
{
	int64_t ns;
	int err = to_ns(delta, &ns);

	return err ? refuse(err) : tense_move_ns(ns);
}

EXPORT int tense_time(struct timespec *time)
{
	int64_t now = tense_device_move(0);

	if (now < 0)
		return now;
	if (!time)
		return -EINVAL;
	time->tv_sec = now / NSEC_PER_SEC;
	time->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

EXPORT int tense_sleep(const struct timespec *duration)
{
	int64_t ns;
	int err = to_ns(duration, &ns);

	/* A negative duration is wrong, however large it is. */
	if (err == -EOVERFLOW && duration->tv_sec < 0)
		err = -EINVAL;
	return err ? refuse(err) : tense_sleep_ns(ns);
}

static struct tense_change change_to(const struct tense_span *to,
				     unsigned int own, unsigned int flags)
{
	return (struct tense_change) {
		.percent = tense_percent_at(&__tense_self, to->scale),
		.own = own < UINT16_MAX ? own : UINT16_MAX,
		.slot = to->slot,
		.flags = flags,
	};
}

static int push(const struct tense_span *to, unsigned int own,
		unsigned int flags)
{
	struct tense_change change;

	if (!__tense_self.stack.based)
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
	struct tense_span *span = &__tense_self.span;
	const struct tense_span old = *span;
	int err;

	*before = old;
	span->scale = tense_span_multiply(old.scale, percent);
	span->slot = slot;
	err = push_by(span, own, TENSE_RECORD_CALL);
	if (err)
		*span = old;
	return err;
}

static inline int end(push_fn *push_by, const struct tense_span *before,
		      unsigned int own)
{
	struct tense_span *span = &__tense_self.span;
	const struct tense_span old = *span;
	int err;

	*span = *before;
	err = push_by(span, own, 0);
	/* With another error the span ends, too: there is no percent to restore. */
	if (err == -EAGAIN)
		*span = old;
	return err;
}

static inline int count(push_fn *push_by, unsigned int slot, unsigned int own)
{
	struct tense_span to = { __tense_self.span.scale, slot };

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
	return push(&__tense_self.span, own, 0);
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
	return push_slow(&__tense_self.span, own, 0);
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
