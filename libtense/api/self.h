/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calling thread's percent, and how it changes by a record in its ring.
 * Exported for libtense-functions.so alone. Everything here is async-signal-safe
 * and uses general registers only.
 */
#ifndef LIBTENSE_SELF_H
#define LIBTENSE_SELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/tense.h>

#include "span.h"
#include "stack.h"

/*
 * Access to a mapped area. It lies in a page that is zero again in a child of
 * fork(): the child inherits no area. Invariant: a thread pushes a record only if
 * admitted is not 0. It clears admitted meanwhile, so that a signal handler does
 * not push in the middle of it.
 */
struct tense_line {
	uint32_t admitted;	/* 2^32 less the lowest percent; 0: none now */
	uint32_t known;		/* the same, as the kernel was told; 0: no area */
	uint32_t room;		/* room - 1 records fit in the ring, or more */
	uintptr_t changing;	/* stack pointer of who cleared admitted */
	struct tense_ring *ring;
	const struct tense_clock *clock;
	struct tense_shared *shared;	/* NULL: CPUs' readings are unordered */
};

struct tense_self {
	struct tense_line *line;	/* never NULL */
	struct tense_span span;	/* factor of the spans on top of the stack */
	struct tense_stack stack;
	uint64_t told;		/* percent that the device was asked for; 0: none */
	/*
	 * R13: the ticks of a change by the program, as a record has them. 0
	 * while the stack has no base.
	 */
	uint64_t own;
	/* A frame that maps an area or makes room in it, or 0. */
	uintptr_t preparing;
};

#define TENSE_SPAN_ONE	(1ULL << 27)

extern __attribute__((visibility("default"))) _Thread_local
struct tense_self __tense_self;

/* For the fields that the kernel or another thread may change. */
#define tense_load(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define tense_store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)

/* Keeps the order of accesses that a signal handler makes, too. */
static inline void tense_barrier(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* The counter of the stamps; 0 if the machine has none, and thus no area. */
static inline uint64_t tense_area_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/*
 * Makes the compiler compute a value here, and keep a branch around it: a bound
 * that hardly ever applies then takes two instructions.
 */
#define TENSE_KEEP(value)	__asm__("" : "+r"(value))

/* Returns scale times percent. 64 bits hold it before the division. */
static inline uint64_t tense_span_multiply(uint64_t scale, uint32_t percent)
{
	const uint64_t max = TENSE_SPAN_ONE * TENSE_PERCENT_MAX / 100;
	const uint64_t one = 100 * TENSE_FINE;

	scale = (scale * percent + one / 2) / one;
	/* The kernel's percent has bounds of its own. */
	TENSE_KEEP(scale);
	if (__builtin_expect(scale > max, 0)) {
		scale = max;
		TENSE_KEEP(scale);
	}
	/* 0 stands for a span that has not begun. */
	return scale + !scale;
}

/*
 * Returns the kernel's percent, times TENSE_FINE. No shortcut for a factor of
 * one: a change must cost the same in every condition, because its cost is
 * measured only once.
 */
static inline uint64_t tense_effective(uint64_t percent, uint64_t scale)
{
	const uint64_t min = TENSE_PERCENT_MIN * TENSE_FINE;
	const uint64_t max = TENSE_PERCENT_MAX * TENSE_FINE;
	uint64_t p = (percent * scale + TENSE_SPAN_ONE / 2) / TENSE_SPAN_ONE;

	TENSE_KEEP(p);
	if (__builtin_expect(p < min, 0)) {
		p = min;
		TENSE_KEEP(p);
	}
	if (__builtin_expect(p > max, 0)) {
		p = max;
		TENSE_KEEP(p);
	}
	return p;
}

/* Returns the kernel's percent at the top of the stack with a factor of scale. */
static inline uint64_t tense_percent_at(const struct tense_self *t,
					uint64_t scale)
{
	return tense_effective(t->stack.percent[t->stack.depth], scale);
}

/* The fields of a record, where machines have areas: in little-endian order. */
#define TENSE_REST_OWN(ticks)	((uint64_t)(ticks) << 32)
#define TENSE_REST_SLOT(slot)	((uint64_t)(uint8_t)(slot) << 48)
#define TENSE_REST_FLAGS(flags)	((uint64_t)(flags) << 56)

typedef uint64_t __attribute__((may_alias)) tense_word;

_Static_assert(sizeof(struct tense_record) == 2 * sizeof(tense_word), "");

static inline uintptr_t tense_stack_pointer(void)
{
	uintptr_t sp;

#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, %0" : "=r"(sp));
#else
	sp = (uintptr_t)__builtin_frame_address(0);
#endif
	return sp;
}

/*
 * Notes where the caller changes the line, and admits no records meanwhile. A signal handler
 * that comes before it takes effect may note another place.
 */
static inline void tense_begin_change(struct tense_line *line)
{
	uintptr_t sp = tense_stack_pointer();

	do {
		line->changing = sp;
		tense_barrier();
		line->admitted = 0;
		tense_barrier();
	} while (__builtin_expect(line->changing != sp, 0));
}

/* Ends a change that a signal handler left by a jump. */
static inline void tense_drop_change(struct tense_self *t)
{
	struct tense_line *line = t->line;

	t->preparing = 0;
	if (!line->known)
		return;
	/* The change may have counted the room, but not filled it. */
	line->room = 1;
	tense_barrier();
	line->admitted = line->known;
}

/*
 * Returns where the thread's unfinished change is on the stack, or UINTPTR_MAX if there
 * is none.
 */
static inline uintptr_t tense_unfinished_change(const struct tense_self *t)
{
	const struct tense_line *line = t->line;

	if (t->preparing)
		return t->preparing;
	return line->known && !line->admitted ? line->changing : UINTPTR_MAX;
}

/* Appends a record. Caller has cleared line->admitted, and there is room. */
static inline void tense_append(struct tense_line *line, uint64_t word)
{
	struct tense_ring *ring = line->ring;
	uint32_t head = tense_load(&ring->head);
	uint32_t at = head * sizeof(struct tense_record) %
		      sizeof(ring->record);
	struct tense_record *r = (void *)((char *)ring->record + at);

	tense_store((tense_word *)&r->percent, word);
	tense_store(&r->stamp, tense_area_counter());
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/* rest: the fields after percent. Returns false if tense_ring_push() must look why. */
static inline bool tense_push(struct tense_line *line, uint64_t percent,
			      uint64_t rest)
{
	uint32_t sum;
	bool room;

	/* No overflow: the percent is below the lowest that the kernel knows. */
	if (!__builtin_add_overflow((uint32_t)percent, line->admitted, &sum))
		return false;
	if (!(tense_load(&line->clock->flags) & TENSE_CLOCK_MEMBER))
		return false;
	tense_begin_change(line);
	room = --line->room;
	if (__builtin_expect(room, 1))
		tense_append(line, rest | percent);
	else
		line->room = 1;
	tense_barrier();
	/*
	 * A handler that interrupted this may have forked. Then known is 0 in the child.
	 * If the handler came before the barrier, the child crashes: it has no ring.
	 */
	line->admitted = line->known;
	return room;
}

#endif
