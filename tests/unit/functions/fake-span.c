// SPDX-License-Identifier: GPL-2.0
/*
 * libtense.so for the tests of libtense-functions.so: keeps the percent and
 * counts calls, without a device. FAKE_AGAIN=N in the environment makes each Nth
 * call ask for its slow variant, which spoils what the caller has to save.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fake-span.h"
#include "api/span.h"

/* So that the percents of the tests have no rest. */
#define ONE (100000ULL << 16)

static _Thread_local struct tense_span span = { .scale = ONE };
static _Thread_local unsigned int turn;
static _Thread_local uint64_t stamps[2];	/* the last one first */
static _Atomic unsigned long calls[16], ends;
static unsigned int again;

__attribute__((constructor(101))) static void init(void)
{
	const char *text = getenv("FAKE_AGAIN");

	again = text ? atoi(text) : 0;
}

static int may(void)
{
	return again && ++turn % again == 0 ? -EAGAIN : 0;
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

static int begin(struct tense_span *before, unsigned int percent,
		 unsigned int slot)
{
	*before = span;
	span.scale = span.scale / 100000 * percent;
	span.slot = slot;
	stamp();
	calls[slot & 15]++;
	return 0;
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
	spoil();
	return begin(before, percent, slot);
}

static int end(const struct tense_span *before)
{
	span = *before;
	stamp();
	ends++;
	return 0;
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

static int count(unsigned int slot)
{
	calls[slot & 15]++;
	return 0;
}

int __tense_span_count(unsigned int slot, unsigned int own)
{
	(void)own;
	return may() ? -EAGAIN : count(slot);
}

int __tense_span_rush(struct tense_span *before)
{
	return __tense_span_begin_slow(before, 100000000, 0, 0);
}

uint64_t __tense_span_stamp(unsigned int back)
{
	return stamps[back & 1];
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
	return count(slot);
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
	return (span.scale * 100 + ONE / 2) / ONE;
}

unsigned int fake_slot(void)
{
	return span.slot;
}

unsigned long fake_calls(unsigned int slot)
{
	return calls[slot];
}
