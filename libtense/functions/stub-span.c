// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The work at the entry and the return of a redirected function. This file is
 * compiled to use general registers only. It makes no system call except in the
 * slow variants of span.h.
 */
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "api/self.h"
#include "redirect/stub.h"
#include "stub-mark.h"

#define UNUSED	__attribute__((unused))
#define HIDDEN	__attribute__((visibility("hidden"), used))
/*
 * Saves each register that it uses. clang leaves out those of the arguments and
 * of the value.
 */
#define SAVES	__attribute__((no_caller_saved_registers))

/* One span per slot, and some more for programs that switch stacks. */
#define SPANS	20

struct span {
	uintptr_t at;		/* of the return address */
	/* Scale 0: the span has not begun, or has ended. */
	struct tense_span before;
	uint32_t slot;
};

HIDDEN _Thread_local struct {
	uint64_t depth;		/* first: stub-entry.S reads it */
	/*
	 * Nonzero during a slow call, which may itself use stubs. It is the stack
	 * pointer below which the call runs, so that a jump out of the call by a
	 * signal handler shows. HELD: for good.
	 */
	uintptr_t busy;
	/* Invariant: before.scale is 0 from depth on. */
	struct span span[SPANS];
} tense_stub_self;

#define self tense_stub_self

#define HELD UINTPTR_MAX

struct tense_stub_cost tense_stub_cost;

/* Register state that tense_stub_call_saved() saves with xsave; 0: with fxsave. */
HIDDEN uint32_t tense_stub_state_mask;
HIDDEN uint64_t tense_stub_state_size = 512;

#define STATE_MASK 0xe7	/* x87, SSE, AVX, AVX-512 */

/*
 * The return address of each gate, in a hash table. Threads share the gates: a
 * thread that runs the same code needs the same ones.
 */
HIDDEN _Atomic uintptr_t tense_stub_slots[STUB_GATES];
#define PROBES 64

/* The stack with which the thread was created. */
static uintptr_t main_thread, main_top, main_size, other_size;

extern void *__libc_stack_end;

static inline uintptr_t thread_pointer(void)
{
	uintptr_t tp;

	__asm__("movq %%fs:0, %0" : "=r"(tp));
	return tp;
}

static inline bool is_home(uintptr_t address)
{
	uintptr_t tp = thread_pointer();

	if (tp == main_thread)
		return main_top - address < main_size;
	/* glibc puts the thread's descriptor on top of its stack. */
	return tp - address < other_size;
}

/*
 * Whether a is on the same stack as b, and deeper. Stacks of signals and of
 * coroutines are small, other than the thread's own.
 */
static inline bool is_deeper(uintptr_t a, uintptr_t b)
{
	if (a >= b)
		return false;
	if (is_home(b))
		return is_home(a);
	return b - a < 0x40000 && !is_home(a);
}

static inline bool is_gate(uintptr_t address)
{
	return address - (uintptr_t)tense_stub_gates <
	       (uintptr_t)STUB_GATES * STUB_GATE_SIZE;
}

static void set_busy(void)
{
	self.busy = (uintptr_t)__builtin_frame_address(0);
}

static int slow(int err)
{
	self.busy = 0;
	return err;
}

static bool is_busy(uintptr_t sp)
{
	if (self.busy && self.busy != HELD && is_deeper(self.busy, sp))
		self.busy = 0;
	return self.busy;
}

/* more: ticks that this entry took beyond the usual ones. */
static inline int span_begin(struct tense_span *before,
			     const struct tense_stub *s, unsigned int more)
{
	/* push() has already counted this span in depth. */
	unsigned int own = tense_stub_cost.enter + more +
			   (self.depth - 1) * tense_stub_cost.enter_level;
	int err = __tense_span_begin(before, s->percent, s->slot, own);

	if (err != -EAGAIN)
		return err;
	set_busy();
	return slow(tense_stub_call_saved(__tense_span_begin_slow, before,
					  (long)s->percent, (long)s->slot,
					  (long)own));
}

static void span_end(const struct tense_span *before, unsigned int own)
{
	/* A signal handler jumped away before the percent had changed. */
	if (!before->scale)
		return;
	if (__tense_span_end(before, own) != -EAGAIN)
		return;
	set_busy();
	slow(tense_stub_call_saved(__tense_span_end_slow, before, (long)own));
}

static inline void span_count(const struct tense_stub *s, unsigned int more)
{
	unsigned int own = tense_stub_cost.count + more +
			   (self.depth - 1) * tense_stub_cost.count_level;

	if (__tense_span_count(s->slot, own) != -EAGAIN)
		return;
	set_busy();
	slow(tense_stub_call_saved(__tense_span_count_slow, (long)s->slot,
				   (long)own));
}

/* Leaves ticks uncharged like a counted call, but in no slot. */
static void span_own(unsigned int more)
{
	unsigned int own = tense_stub_cost.count + more;

	if (__tense_span_own(own) != -EAGAIN)
		return;
	set_busy();
	slow(tense_stub_call_saved(__tense_span_own_slow, (long)own));
}

/* Returns the ticks that the mark took. */
static unsigned int mark(unsigned int what)
{
	uint64_t start = __builtin_ia32_rdtsc();
	int64_t now = 0;
	int err = __tense_span_now(&now);

	if (err == -EAGAIN) {
		set_busy();
		err = slow(tense_stub_call_saved(__tense_span_now_slow, &now));
	}
	if (!err)
		tense_stub_mark(now, what);
	return __builtin_ia32_rdtsc() - start;
}

/* Forgets the spans from depth on, the youngest first. */
static void drop_spans(uint64_t depth)
{
	while (self.depth > depth) {
		self.span[self.depth - 1].before.scale = 0;
		tense_barrier();
		self.depth--;
	}
}

typedef bool which_fn(const struct span *span, uintptr_t address);

/*
 * Ends spans that are not all the youngest: those that stay lie on another stack.
 * The state before the oldest span that ends becomes the state before those that
 * stay.
 */
__attribute__((noinline))
static void end_among(which_fn *which, uintptr_t address, unsigned int own)
{
	const struct tense_span none = { 0 };
	struct tense_span before = none;
	uint64_t i, kept = 0, depth = self.depth;

	for (i = 0; i < depth; i++) {
		struct span span = self.span[i];

		if (which(&span, address)) {
			if (!before.scale)
				before = span.before;
			continue;
		}
		if (before.scale)
			span.before = before;
		self.span[kept++] = span;
	}
	tense_barrier();
	drop_spans(kept);
	span_end(&before, own);
}

/* Ends the spans that which() selects: nearly always all, or none. */
static inline void end_spans(which_fn *which, uintptr_t address,
			     unsigned int own)
{
	uint64_t i = self.depth, first;

	while (i && which(&self.span[i - 1], address))
		i--;
	first = i;
	while (i && !which(&self.span[i - 1], address))
		i--;
	if (i) {
		end_among(which, address, own);
	} else if (first < self.depth) {
		span_end(&self.span[first].before, own);
		tense_barrier();
		drop_spans(first);
	}
}

static bool ended(const struct span *span, uintptr_t sp)
{
	return is_deeper(span->at, sp);
}

static bool left(const struct span *span, uintptr_t at)
{
	return span->at == at || is_deeper(span->at, at);
}

static bool any(const struct span *span, uintptr_t unused)
{
	(void)span;
	(void)unused;
	return true;
}

static bool is_on(const struct span *span, uintptr_t stack)
{
	const stack_t *s = (const stack_t *)stack;

	return span->at - (uintptr_t)s->ss_sp < s->ss_size;
}

static inline uintptr_t gate_of(unsigned int slot)
{
	return (uintptr_t)tense_stub_gates + slot * STUB_GATE_SIZE;
}

/* Returns the gate for a return address, or 0 if there are no more. */
static uintptr_t find_gate(uintptr_t address)
{
	unsigned int slot = address % STUB_GATES, probe;
	uintptr_t found;

	for (probe = 1; probe <= PROBES; probe++) {
		found = tense_stub_slots[slot];
		if (!found && atomic_compare_exchange_strong(
				      &tense_stub_slots[slot], &found, address))
			found = address;
		if (found == address)
			return gate_of(slot);
		slot = (slot + probe) % STUB_GATES;
	}
	return 0;
}

static inline bool is_active(uint32_t slot)
{
	uint64_t i = self.depth;

	while (i--)
		if (self.span[i].slot == slot)
			return true;
	return false;
}

/*
 * A signal handler may come between any two steps, use the spans above, and never
 * return. The next use of the spans then ends this one, whatever its state is here.
 *
 * A handler that comes before depth is set leaves its own address in the span. A second
 * handler just after that would end the span as one of its own. So it is taken again.
 */
static inline void take_span(struct span *span, uint64_t depth, uintptr_t at,
			     uint32_t slot)
{
	do {
		span->at = at;
		span->slot = slot;
		tense_barrier();
		self.depth = depth + 1;
		tense_barrier();
	} while (__builtin_expect(span->at != at, 0));
}

static bool push(const struct tense_stub *stub, uintptr_t at,
		 unsigned int more)
{
	struct span *span = &self.span[self.depth];

	if (self.depth == SPANS)
		return false;
	take_span(span, self.depth, at, stub->slot);
	if (span_begin(&span->before, stub, more)) {
		tense_barrier();
		drop_spans(self.depth - 1);
		return false;
	}
	return true;
}

/* Gives the function its percent. */
static uintptr_t enter(const struct tense_stub *stub, uintptr_t *at,
		       unsigned int more)
{
	bool tail = is_gate(*at);
	uintptr_t gate = 0;

	if (self.depth) {
		/* A span at the place of a gate has ended if the gate is gone. */
		end_spans(tail ? ended : left, (uintptr_t)at, 0);
		if (is_active(stub->slot)) {
			span_count(stub, more);
			return 0;
		}
	}
	/*
	 * Another redirected function jumped here, to return in its place. One
	 * gate ends both.
	 */
	if (!tail) {
		gate = find_gate(*at);
		if (!gate)
			return 0;
	}
	return push(stub, (uintptr_t)at, more) ? gate : 0;
}

static uintptr_t enter_special(const struct tense_stub *stub, uintptr_t *at)
{
	unsigned int took;

	if (stub->special & STUB_PROBE) {
		set_busy();
		tense_stub_call_saved((int (*)())stub->probe);
		self.busy = 0;
		return 0;
	}
	took = mark(stub->special);
	if (stub->slot)
		return enter(stub, at, took);
	span_own(took);
	return 0;
}

/*
 * These two do not end in a call: clang would make it a jump to a function that
 * does not save registers.
 */
SAVES __attribute__((noinline))
static uintptr_t enter_any(const struct tense_stub *stub, uintptr_t *at)
{
	uintptr_t gate = 0;

	if (!is_busy((uintptr_t)at))
		gate = stub->special ? enter_special(stub, at) :
				       enter(stub, at, 0);
	TENSE_KEEP(gate);
	return gate;
}

SAVES __attribute__((noinline))
static void leave_any(uintptr_t at)
{
	end_spans(left, at, tense_stub_cost.leave);
	tense_barrier();
}

/*
 * The usual case of the two functions above, in few instructions: all spans are on
 * the same stack, none has ended without a return, and the ring has room. The
 * functions that stub-entry.S calls make no further call, so that each saves
 * few registers.
 */
#define INLINE __attribute__((always_inline)) static inline

/* Whether the first n spans lie above at: none has ended. */
INLINE bool are_above(uint64_t n, uintptr_t at)
{
	while (n--)
		if (self.span[n].at <= at)
			return false;
	return true;
}

INLINE uint64_t rest_of(uint32_t slot, uint32_t flags, uint64_t own)
{
	return TENSE_REST_SLOT(slot) | TENSE_REST_FLAGS(flags) | own;
}

INLINE uint64_t sum_of(uint64_t ticks, uint64_t level, uint64_t levels)
{
	const uint64_t most = UINT16_MAX;

	ticks += level * levels;
	return TENSE_REST_OWN(ticks < most ? ticks : most);
}

/* Counts one more call of a function that the thread is in. */
INLINE bool count_quickly(const struct tense_stub *stub, uint64_t depth)
{
	const struct tense_self *t = &__tense_self;
	uint64_t own = sum_of(tense_stub_cost.count,
			      tense_stub_cost.count_level, depth - 1);

	return tense_push(t->line, tense_percent_at(t, t->span.scale),
			  rest_of(stub->slot,
				  TENSE_RECORD_CALL | TENSE_RECORD_STAY, own));
}

INLINE bool begin_quickly(const struct tense_stub *stub, uintptr_t at,
			  uint64_t depth, uint64_t own)
{
	struct tense_self *t = &__tense_self;
	struct span *span = &self.span[depth];
	uint32_t slot = stub->slot;
	uint64_t scale;

	take_span(span, depth, at, slot);
	span->before.slot = t->span.slot;
	scale = t->span.scale;
	tense_barrier();
	span->before.scale = scale;
	scale = tense_span_multiply(scale, stub->percent);
	/* A signal handler that comes before the record restores this. */
	t->span.scale = scale;
	t->span.slot = slot;
	tense_barrier();
	if (tense_push(t->line, tense_percent_at(t, scale),
		       rest_of(slot, TENSE_RECORD_CALL, own)))
		return true;
	t->span = span->before;
	tense_barrier();
	span->before.scale = 0;
	tense_barrier();
	self.depth = depth;
	return false;
}

/*
 * Returns the gate of a return address if it is where find_gate() looks first, as
 * nearly all are, else 0. 0 after a tail call: the address of a gate has no gate.
 */
INLINE uintptr_t gate_at_once(uintptr_t address)
{
	unsigned int slot = address % STUB_GATES;

	if (tense_stub_slots[slot] == address)
		return gate_of(slot);
	slot = (slot + 1) % STUB_GATES;
	return tense_stub_slots[slot] == address ? gate_of(slot) : 0;
}

/*
 * The thread is in no function that is scaled. at: address of the return address.
 * Returns the gate by which to call the function. 0: the function returns to its
 * caller directly.
 */
HIDDEN SAVES uintptr_t tense_stub_enter_first(const struct tense_stub *stub,
					      uintptr_t *at)
{
	uintptr_t gate = gate_at_once(*at);

	if (self.busy || stub->special || !gate ||
	    !begin_quickly(stub, (uintptr_t)at, 0,
			   TENSE_REST_OWN(tense_stub_cost.enter)))
		return enter_any(stub, at);
	return gate;
}

/* The same if the thread is in a redirected function already. */
HIDDEN SAVES uintptr_t tense_stub_enter(const struct tense_stub *stub,
					uintptr_t *at)
{
	uint64_t depth = self.depth, own;
	uintptr_t gate;

	if (self.busy || stub->special || depth == SPANS ||
	    !are_above(depth, (uintptr_t)at))
		return enter_any(stub, at);
	if (is_active(stub->slot))
		return count_quickly(stub, depth) ? 0 : enter_any(stub, at);
	own = sum_of(tense_stub_cost.enter, tense_stub_cost.enter_level, depth);
	gate = gate_at_once(*at);
	if (!gate || !begin_quickly(stub, (uintptr_t)at, depth, own))
		return enter_any(stub, at);
	return gate;
}

INLINE bool end_quickly(uintptr_t at, uint64_t depth)
{
	struct tense_self *t = &__tense_self;
	struct span *span = &self.span[depth];
	const struct tense_span old = t->span;
	uint64_t scale = span->before.scale;
	uint32_t slot = span->before.slot;

	if (span->at != at || !scale)
		return false;
	t->span.scale = scale;
	t->span.slot = slot;
	tense_barrier();
	if (!tense_push(t->line, tense_percent_at(t, scale),
			rest_of(slot, 0,
				TENSE_REST_OWN(tense_stub_cost.leave)))) {
		t->span = old;
		return false;
	}
	span->before.scale = 0;
	tense_barrier();
	self.depth = depth;
	return true;
}

/* The thread is in one scaled function. */
HIDDEN SAVES void tense_stub_leave_last(uintptr_t at)
{
	if (!end_quickly(at, 0))
		leave_any(at);
}

HIDDEN SAVES void tense_stub_leave(uintptr_t at)
{
	uint64_t depth = self.depth - 1;

	if (depth >= SPANS || !are_above(depth, at) || !end_quickly(at, depth))
		leave_any(at);
}

/* A signal handler may jump out of a change of the ring. */
static void drop_change(uintptr_t sp)
{
	uintptr_t at = tense_unfinished_change(&__tense_self);

	if (at != UINTPTR_MAX && (sp == UINTPTR_MAX || is_deeper(at, sp)))
		tense_drop_change(&__tense_self);
}

void tense_stub_settle(uintptr_t sp)
{
	stack_t stack;

	drop_change(sp);
	is_busy(sp);
	if (!self.depth && !self.busy)
		return;
	end_spans(sp == UINTPTR_MAX ? any : ended, sp, 0);
	/* A signal handler on a stack of its own does not return after that. */
	if (is_home(sp) && !is_home((uintptr_t)__builtin_frame_address(0)) &&
	    !sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK) {
		end_spans(is_on, (uintptr_t)&stack, 0);
		if (self.busy - (uintptr_t)stack.ss_sp < stack.ss_size)
			self.busy = 0;
	}
}

void tense_stub_hold(bool hold)
{
	self.busy = hold ? HELD : 0;
}

unsigned int tense_stub_inside(const struct tense_stub *stub,
			       unsigned int (*measure)(void (*call)(void)),
			       void (*call)(void))
{
	uintptr_t at = (uintptr_t)__builtin_frame_address(0);
	unsigned int result;

	if (!push(stub, at, 0))
		return 0;
	result = measure(call);
	end_spans(left, at, 0);
	return result;
}

/*
 * The personality function of the gates. An exception, or the end of a thread,
 * unwinds the frame of the innermost function.
 */
HIDDEN int tense_stub_unwound(UNUSED int version, int actions,
			      UNUSED uint64_t class, UNUSED void *exception,
			      UNUSED void *context)
{
	enum { CLEANUP_PHASE = 2, CONTINUE_UNWIND = 8 };
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uint64_t i;

	if (actions & CLEANUP_PHASE && self.depth) {
		end_spans(ended, here, 0);
		for (i = self.depth; i--;)
			if (is_deeper(here, self.span[i].at)) {
				end_spans(left, self.span[i].at, 0);
				break;
			}
	}
	return CONTINUE_UNWIND;
}

static void find_state(void)
{
	unsigned int a, b, c, d, low, high, i;
	uint64_t end;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	low &= STATE_MASK;
	tense_stub_state_size = 576;
	for (i = 2; i < 8; i++) {
		if (!(low & 1U << i))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		end = (uint64_t)b + a;
		if (end > tense_stub_state_size)
			tense_stub_state_size = end;
	}
	tense_stub_state_mask = low;
}

void tense_stub_init(void)
{
	struct rlimit limit;
	pthread_attr_t attr;
	size_t size = 8 << 20;

	find_state();
	main_thread = thread_pointer();
	main_top = (uintptr_t)__libc_stack_end + 0x1000;
	main_size = 1UL << 30;
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < main_size)
		main_size = limit.rlim_cur;
	if (!pthread_attr_init(&attr)) {
		pthread_attr_getstacksize(&attr, &size);
		pthread_attr_destroy(&attr);
	}
	other_size = size;
}
