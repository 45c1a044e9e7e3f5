// SPDX-License-Identifier: GPL-2.0
/*
 * libtense.so for the tests of libtense-functions.so: keeps the percent and
 * counts calls, without a device. Each thread has a ring with little room, so
 * that many of its changes do not find any. FAKE_AGAIN=N in the environment gives
 * them no ring, and makes each Nth call ask for its slow variant. The slow
 * variants spoil what the caller has to save.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fake-span.h"
#include "api/self.h"

#define ROOM 7

static struct tense_line no_line;

_Thread_local struct tense_self __tense_self = {
	.line = &no_line,
	.span = { .scale = TENSE_SPAN_ONE },
	.stack = { .based = true, .percent = { 100 * TENSE_FINE } },
};

static _Thread_local struct {
	struct tense_line line;
	struct tense_clock clock;
	struct tense_ring ring;
} area;

static _Thread_local unsigned int turn;
static _Thread_local uint64_t stamps[2];	/* the last one first */
static _Atomic unsigned long calls[16];
static unsigned int again;
static pthread_key_t key;

static void count(unsigned int slot)
{
	calls[slot & 15]++;
}

/* A signal handler may take some of the same records. */
static void take_records(void)
{
	uint32_t tail = area.clock.tail;

	while (tail != tense_load(&area.ring.head)) {
		struct tense_record r =
			area.ring.record[tail % TENSE_RING_RECORDS];

		if (!__atomic_compare_exchange_n(&area.clock.tail, &tail,
						 tail + 1, false,
						 __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
			continue;
		tail++;
		if (r.flags & TENSE_RECORD_CALL)
			count(r.slot);
	}
}

static void end_thread(void *unused)
{
	(void)unused;
	take_records();
}

__attribute__((constructor(101))) static void init(void)
{
	const char *text = getenv("FAKE_AGAIN");

	again = text ? atoi(text) : 0;
	pthread_key_create(&key, end_thread);
}

/* Calls libc, and thus only a slow variant calls it. */
static void make_ring(void)
{
	if (again || area.line.known)
		return;
	pthread_setspecific(key, &area);
	area.clock.flags = TENSE_CLOCK_MEMBER;
	area.line = (struct tense_line) {
		.known = -(uint32_t)TENSE_FINE,
		.admitted = -(uint32_t)TENSE_FINE,
		.room = 1,
		.ring = &area.ring,
		.clock = &area.clock,
	};
	tense_barrier();
	__tense_self.line = &area.line;
}

static int may(void)
{
	if (!again)
		return __tense_self.line == &no_line ? -EAGAIN : 0;
	return ++turn % again == 0 ? -EAGAIN : 0;
}

static void spoil(void)
{
	__asm__ volatile(
		"fninit\n\tfldpi\n\t"
		".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
		"pcmpeqd %%xmm\\n, %%xmm\\n\n\t"
		".endr\n\t"
		"fstp %%st(0)"
		::: "memory");
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall");
	errno = ENOTTY;
}

static void stamp(void)
{
	stamps[1] = stamps[0];
	stamps[0] = __builtin_ia32_rdtsc();
}

static bool push(struct tense_line *line, uint64_t rest)
{
	const struct tense_self *t = &__tense_self;

	return tense_push(line, tense_percent_at(t, t->span.scale), rest);
}

/* Writes a record, or counts the call if there is no ring or it is busy. */
static int change(unsigned int slot, unsigned int flags)
{
	uint64_t rest = TENSE_REST_SLOT(slot) | TENSE_REST_FLAGS(flags);
	struct tense_line *line = __tense_self.line;

	stamp();
	if (push(line, rest))
		return 0;
	if (line->admitted) {
		take_records();
		line->room = 1 + ROOM;
		if (push(line, rest))
			return 0;
	}
	if (flags)
		count(slot);
	return 0;
}

static int begin(struct tense_span *before, unsigned int percent,
		 unsigned int slot)
{
	struct tense_span *span = &__tense_self.span;

	*before = *span;
	span->scale = tense_span_multiply(span->scale, percent);
	span->slot = slot;
	return change(slot, TENSE_RECORD_CALL);
}

int __tense_span_begin(struct tense_span *before, unsigned int percent,
		       unsigned int slot, unsigned int own)
{
	(void)own;
	return may() ? -EAGAIN : begin(before, percent, slot);
}

int __tense_span_begin_slow(struct tense_span *before, unsigned int percent,
			    unsigned int slot, unsigned int own)
{
	(void)own;
	make_ring();
	spoil();
	return begin(before, percent, slot);
}

static int end(const struct tense_span *before)
{
	__tense_self.span = *before;
	return change(before->slot, 0);
}

int __tense_span_end(const struct tense_span *before, unsigned int own)
{
	(void)own;
	return may() ? -EAGAIN : end(before);
}

int __tense_span_end_slow(const struct tense_span *before, unsigned int own)
{
	(void)own;
	spoil();
	return end(before);
}

static int count_only(unsigned int slot)
{
	return change(slot, TENSE_RECORD_CALL | TENSE_RECORD_STAY);
}

int __tense_span_count(unsigned int slot, unsigned int own)
{
	(void)own;
	return may() ? -EAGAIN : count_only(slot);
}

int __tense_span_rush(struct tense_span *before)
{
	return __tense_span_begin_slow(before, TENSE_PERCENT_MAX * TENSE_FINE, 0, 0);
}

uint64_t __tense_span_stamp(unsigned int back)
{
	uint32_t last = area.ring.head - 1 - back;

	return area.line.known ?
	       area.ring.record[last % TENSE_RING_RECORDS].stamp :
	       stamps[back & 1];
}

/* As of a counter of 2 GHz. */
uint64_t __tense_span_rate(void)
{
	return 1ULL << 31;
}

int __tense_span_count_slow(unsigned int slot, unsigned int own)
{
	(void)own;
	spoil();
	return count_only(slot);
}

int __tense_span_own(unsigned int own)
{
	(void)own;
	return may();
}

int __tense_span_own_slow(unsigned int own)
{
	(void)own;
	spoil();
	return 0;
}

/* A clock that goes on by 1000 whenever somebody looks. */
static int now(int64_t *ns)
{
	static int64_t clock;

	*ns = __atomic_add_fetch(&clock, 1000, __ATOMIC_SEQ_CST);
	return 0;
}

int __tense_span_now(int64_t *ns)
{
	return may() ? -EAGAIN : now(ns);
}

int __tense_span_now_slow(int64_t *ns)
{
	spoil();
	return now(ns);
}

unsigned int fake_percent(void)
{
	const struct tense_self *t = &__tense_self;

	return (tense_percent_at(t, t->span.scale) + TENSE_FINE / 2) /
	       TENSE_FINE;
}

unsigned int fake_slot(void)
{
	return __tense_self.span.slot;
}

bool fake_admits(void)
{
	return __tense_self.line->admitted == __tense_self.line->known;
}

unsigned long fake_calls(unsigned int slot)
{
	take_records();
	return calls[slot];
}
