// SPDX-License-Identifier: GPL-2.0
/*
 * libslow.so: preloaded, it makes some functions of real programs slower by a
 * known part. After each call its wrapper burns as much more of the thread's
 * CPU time as SLOW says, in percent of what the call itself took. So the
 * program that is spared that is one in which a function takes less time, and
 * the other one is one in which it takes more. With SLOW=0 it burns nothing,
 * but is there: to load it takes time, too, some 10 ms in a guest.
 *
 * The time-stamp counter tells what a call took. It runs on while the thread
 * does not, so that from time to time, and where much of it went by at once, the
 * kernel is asked for the thread's part. What others had, they mostly had at
 * once: it is taken off a call that is the longest stretch since the kernel was
 * asked last.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/cycles.h"

#define EXPORT __attribute__((visibility("default"), noinline))
/* Of a spin between two looks at the counter. */
#define STEPS	16
/* Far more ticks than that takes. */
#define INTERRUPTED	1500
/* Of calls of nothing. */
#define BATCHES		20
#define BATCH		100
/* In ticks of some GHz: long enough for others to have run. */
#define LONG_CALL	1500000
#define LONG_GAP	800000
#define LONG_LOOK	1000000
#define WINDOW		30000000

static int64_t percent;
/* Of begin() and burn(), what they cannot see of themselves, in ticks. */
static int64_t unseen;

/* An instant on all clocks. */
struct instant {
	uint64_t ticks, cpu, real;
};

static _Thread_local struct {
	unsigned int depth;	/* of wrapped calls within wrapped calls */
	bool started;
	bool was_long;		/* the last call */
	uint64_t last;		/* end of the last call, in ticks */
	int64_t owed;		/* ticks to burn */
	uint64_t state;
	/* Since the kernel was asked: */
	struct instant asked;
	uint64_t longest;	/* stretch between two looks at the counter */
	bool in_call;		/* that was one */
	int64_t known;		/* ticks that others had, and that are not owed */
} me;

static struct instant look(void)
{
	return (struct instant) {
		.cpu = real_clock(CLOCK_THREAD_CPUTIME_ID),
		.real = real_clock(CLOCK_MONOTONIC),
		.ticks = cycles(),
	};
}

static void note(uint64_t stretch, bool in_call)
{
	if (stretch <= me.longest)
		return;
	me.longest = stretch;
	me.in_call = in_call;
}

/* Asks the kernel; returns the ticks that others had during a call. */
static int64_t others(void)
{
	struct instant now = look();
	double part = 1 - (double)(now.cpu - me.asked.cpu) /
			  (double)(now.real - me.asked.real);
	int64_t had = (int64_t)(part * (now.ticks - me.asked.ticks)) - me.known;
	int64_t longest = me.in_call ? (int64_t)me.longest : 0;

	me.asked = now;
	me.longest = 0;
	me.known = 0;
	/* What is shorter than that cannot have been all of it. */
	return had > 0 && had <= longest ? had : 0;
}

/*
 * Burns as many ticks of this thread's; returns how many it was. A step that
 * took far longer was interrupted, and counts as much as the one before.
 */
static int64_t spin(int64_t ticks)
{
	int64_t burnt = 0, step = 0;
	uint64_t at = cycles();

	while (burnt < ticks) {
		uint64_t before = at;
		int64_t took;

		for (int i = 0; i < STEPS; i++) {
			me.state = me.state * 0x5851f42d4c957f2dull + 1;
			__asm__ volatile("" : "+r"(me.state));
		}
		at = cycles();
		took = (int64_t)(at - before);
		if (took < INTERRUPTED || !step)
			step = took;
		me.known += took - step;
		burnt += step;
	}
	return burnt;
}

/* What the wrapper itself took since then is burnt already. */
static void own(uint64_t since)
{
	int64_t took = (int64_t)(cycles() - since);

	me.owed -= took < LONG_LOOK ? took : LONG_LOOK;
}

static uint64_t begin(void)
{
	uint64_t entry = cycles();

	if (!percent || me.depth++)
		return 0;
	if (me.started)
		note(entry - me.last, false);
	else
		me.asked = look();
	/* Of a call that may be long, none of what was before. */
	if (me.started && (entry - me.last >= LONG_GAP || me.was_long))
		others();
	me.started = true;
	own(entry);
	return cycles();
}

static void burn(uint64_t start)
{
	uint64_t end;
	int64_t took;

	if (!percent || --me.depth)
		return;
	end = cycles();
	took = (int64_t)(end - start);
	note(took, true);
	me.was_long = took >= LONG_CALL;
	if (me.was_long || end - me.asked.ticks >= WINDOW)
		took -= others();
	me.owed += took * percent / 100;
	own(end);
	me.owed -= unseen;
	me.owed -= spin(me.owed);
	me.last = cycles();
}

/* What the wrappers stand for. */
static struct {
	int (*deflate)(void *stream, int flush);
	int (*lzma_code)(void *stream, int action);
	void *(*BZ2_bzWrite)(int *error, void *file, void *data, int len);
	int (*sqlite3_step)(void *statement);
	int (*EVP_DigestUpdate)(void *context, const void *data, size_t len);
	void *(*slow_pp_split)(void *interpreter);
} real;

EXPORT int deflate(void *stream, int flush)
{
	uint64_t start = begin();
	int result = real.deflate(stream, flush);

	burn(start);
	return result;
}

EXPORT int lzma_code(void *stream, int action)
{
	uint64_t start = begin();
	int result = real.lzma_code(stream, action);

	burn(start);
	return result;
}

EXPORT void *BZ2_bzWrite(int *error, void *file, void *data, int len)
{
	uint64_t start = begin();
	void *result = real.BZ2_bzWrite(error, file, data, len);

	burn(start);
	return result;
}

EXPORT int sqlite3_step(void *statement)
{
	uint64_t start = begin();
	int result = real.sqlite3_step(statement);

	burn(start);
	return result;
}

EXPORT int EVP_DigestUpdate(void *context, const void *data, size_t len)
{
	uint64_t start = begin();
	int result = real.EVP_DigestUpdate(context, data, len);

	burn(start);
	return result;
}

/* The executable's own, which perl calls through a table of pointers. */
EXPORT void *slow_pp_split(void *interpreter)
{
	uint64_t start = begin();
	void *result = real.slow_pp_split(interpreter);

	burn(start);
	return result;
}

/*
 * Calls of nothing: what they take is all ours. A batch of them that was not
 * interrupted takes the least.
 */
static void calibrate(void)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t start = cycles();
		int64_t took, before = me.owed;

		for (int j = 0; j < BATCH; j++)
			burn(begin());
		/* What they saw they took off what is owed. */
		took = (int64_t)(cycles() - start) + me.owed - before;
		if (took / BATCH < least)
			least = took / BATCH;
	}
	memset(&me, 0, sizeof(me));
	unseen = least;
}

static void find(void *function, const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);

	memcpy(function, &address, sizeof(address));
}

static void wrap_perl(void)
{
	void **table = dlsym(RTLD_DEFAULT, "PL_ppaddr");
	void *split = dlsym(RTLD_DEFAULT, "Perl_pp_split");
	const ElfW(Sym) *symbol;
	Dl_info info;

	if (!table || !split ||
	    !dladdr1(table, &info, (void **)&symbol, RTLD_DL_SYMENT))
		return;
	memcpy(&real.slow_pp_split, &split, sizeof(split));
	for (size_t i = 0; i < symbol->st_size / sizeof(*table); i++)
		if (table[i] == split)
			table[i] = (void *)slow_pp_split;
}

__attribute__((constructor)) static void start(void)
{
	const char *slow = getenv("SLOW");

	percent = slow ? strtol(slow, NULL, 10) : 0;
	find(&real.deflate, "deflate");
	find(&real.lzma_code, "lzma_code");
	find(&real.BZ2_bzWrite, "BZ2_bzWrite");
	find(&real.sqlite3_step, "sqlite3_step");
	find(&real.EVP_DigestUpdate, "EVP_DigestUpdate");
	wrap_perl();
	if (percent)
		calibrate();
}
